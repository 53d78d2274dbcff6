"""The modelled air between virtual radios, and what it simulates beside the real stations."""
