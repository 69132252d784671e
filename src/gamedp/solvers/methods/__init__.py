"""The methods: one file each, one frozen class each. None of them imports another."""
