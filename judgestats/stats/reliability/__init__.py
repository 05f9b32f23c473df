"""How far can a score be repeated: alpha, omega, intraclass correlation, generalizability."""
