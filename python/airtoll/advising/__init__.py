"""From the policy that one has to one that one could have, at home or in an office.

Takes a policy or a network and the place; gives claims, a decision and its words.
"""
