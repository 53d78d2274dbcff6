"""Programs that make traffic and measure it."""
