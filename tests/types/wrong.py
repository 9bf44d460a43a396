"""What type checkers find in a user's code, one mistake a line."""

from potentia.rules import LLL, PSBLLL

LLL(tau=[1])
LLL(tau=0.1, temperature=0.1)
PSBLLL(tau=0.1, revision=0.3, guard="yes")
