"""What an exported encoder is made of: files that need none of our packages."""
