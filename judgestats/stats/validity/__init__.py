"""Is the judge right, and what would people say of all items, given the judge?"""
