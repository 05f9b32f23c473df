"""Everything from outside is opened here: files under limits, JSON and text made clean."""
