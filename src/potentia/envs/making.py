from potentia.envs.setting import setting_from
def parallel_env(game, steps=100, reward="utility", observation="own", strict=False, render_mode=None, events=None, compiled="auto"):
    from potentia.envs.parallel import ParallelGame
    return ParallelGame(setting_from(game, steps, reward, observation, strict, compiled, events), render_mode)
