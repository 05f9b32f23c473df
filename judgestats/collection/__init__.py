"""Who judges: the client, the simulated judge, the journal, collection under a budget."""
