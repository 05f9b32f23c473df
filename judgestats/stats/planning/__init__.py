"""How large must the next study be, and what does it cost?"""
