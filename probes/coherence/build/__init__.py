"""The suites of Beyer et al. 2021, section 4, built from published formats and from open data."""
