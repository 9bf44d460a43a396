"""Games as environments."""
from potentia.envs.making import parallel_env
