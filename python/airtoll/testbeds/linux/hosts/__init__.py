"""Hosts of a trial: namespaces, SSH, radios, tools, and the programs that run there."""
