/* What a careful C programmer would write for two fixed games: the yardstick for the compiled engine.
 *
 * The same draws (Squares, the same counters), the same arithmetic in the same order, so the final
 * profile must equal the engine's bit for bit. Nothing is generic here: no records, no constrained
 * moves, no schedules.
 */
#include <math.h>
#include <stdint.h>

enum { WAKE = 0, TRIAL = 1, CHOICE = 2, NUM_PURPOSES = 16 };

static inline uint64_t squares(uint64_t counter, uint64_t key)
{
    uint64_t x, y, z, t;
    y = x = counter * key;
    z = y + key;
    x = x * x + y; x = (x >> 32) | (x << 32);
    x = x * x + z; x = (x >> 32) | (x << 32);
    x = x * x + y; x = (x >> 32) | (x << 32);
    t = x = x * x + z; x = (x >> 32) | (x << 32);
    return t ^ ((x * x + y) >> 32);
}

static inline double uniform(uint64_t key, int64_t players, int64_t step, int64_t player, int64_t purpose)
{
    return (int64_t)(squares((uint64_t)((step * players + player) * NUM_PURPOSES + purpose), key) >> 11) * 0x1p-53;
}

/* One logit draw over `count` utilities (max-shifted). */
static inline int64_t logit(const double *value, double *weight, int64_t count, double tau, double unit)
{
    double largest = value[0], total = 0.0, reached = 0.0;
    for (int64_t k = 1; k < count; k++)
        if (value[k] > largest) largest = value[k];
    for (int64_t k = 0; k < count; k++) {
        weight[k] = value[k] == largest ? 1.0 : exp((value[k] - largest) / tau);
        total += weight[k];
    }
    double threshold = unit * total;
    for (int64_t k = 0; k < count - 1; k++) {
        reached += weight[k];
        if (threshold < reached) return k;
    }
    return count - 1;
}

static inline double binary_logit(double current, double trial, double tau)
{
    double gain = (trial - current) / tau;
    if (gain >= 0.0) return 1.0 / (1.0 + exp(-gain));
    double odds = exp(gain);
    return odds / (1.0 + odds);
}

/* LLL on a ring, two actions, payoff[own][other]. */
void ring_lll(int64_t players, const double payoff[2][2], double tau, uint64_t key, int64_t steps, uint8_t *profile)
{
    double value[2];
    for (int64_t n = 0; n < steps; n++) {
        int64_t i = (int64_t)(uniform(key, players, n, 0, WAKE) * players);
        uint8_t left = profile[i == 0 ? players - 1 : i - 1], right = profile[i == players - 1 ? 0 : i + 1];
        value[0] = payoff[0][left] + payoff[0][right];
        value[1] = payoff[1][left] + payoff[1][right];
        double odds = exp(-fabs(value[0] - value[1]) / tau), first = value[0] >= value[1] ? 1.0 : odds;
        profile[i] = !(uniform(key, players, n, i, CHOICE) * (1.0 + odds) < first);
    }
}

void ring_blll(int64_t players, const double payoff[2][2], double tau, uint64_t key, int64_t steps, uint8_t *profile)
{
    for (int64_t n = 0; n < steps; n++) {
        int64_t i = (int64_t)(uniform(key, players, n, 0, WAKE) * players);
        uint8_t left = profile[i == 0 ? players - 1 : i - 1], right = profile[i == players - 1 ? 0 : i + 1];
        uint8_t now = profile[i], then = 1 - now; /* the only trial; no draw decides it */
        double before = payoff[now][left] + payoff[now][right], after = payoff[then][left] + payoff[then][right];
        if (uniform(key, players, n, i, CHOICE) < binary_logit(before, after, tau)) profile[i] = then;
    }
}

/* A congestion game: all players share `actions` strategies of `width` resources each.
 * cost[r * (players + 1) + load]. */
void congestion_lll(int64_t players, int64_t actions, int64_t width, const int64_t *strategy, const double *cost,
                    double tau, uint64_t key, int64_t steps, int64_t *profile, int64_t *loads)
{
    double value[64], weight[64];
    for (int64_t n = 0; n < steps; n++) {
        int64_t i = (int64_t)(uniform(key, players, n, 0, WAKE) * players);
        const int64_t *mine = strategy + profile[i] * width;
        for (int64_t k = 0; k < width; k++) loads[mine[k]]--;
        for (int64_t a = 0; a < actions; a++) {
            double total = 0.0;
            for (int64_t k = 0; k < width; k++) {
                int64_t r = strategy[a * width + k];
                total += cost[r * (players + 1) + loads[r] + 1];
            }
            value[a] = -total;
        }
        int64_t a = logit(value, weight, actions, tau, uniform(key, players, n, i, CHOICE));
        for (int64_t k = 0; k < width; k++) loads[strategy[a * width + k]]++;
        profile[i] = a;
    }
}

void congestion_blll(int64_t players, int64_t actions, int64_t width, const int64_t *strategy, const double *cost,
                     double tau, uint64_t key, int64_t steps, int64_t *profile, int64_t *loads)
{
    for (int64_t n = 0; n < steps; n++) {
        int64_t i = (int64_t)(uniform(key, players, n, 0, WAKE) * players);
        int64_t now = profile[i], then = (int64_t)(uniform(key, players, n, i, TRIAL) * (actions - 1));
        if (then >= now) then++;
        const int64_t *mine = strategy + now * width, *other = strategy + then * width;
        double before = 0.0, after = 0.0;
        for (int64_t k = 0; k < width; k++) loads[mine[k]]--;
        for (int64_t k = 0; k < width; k++) before += cost[mine[k] * (players + 1) + loads[mine[k]] + 1];
        for (int64_t k = 0; k < width; k++) after += cost[other[k] * (players + 1) + loads[other[k]] + 1];
        int accept = uniform(key, players, n, i, CHOICE) < binary_logit(-before, -after, tau);
        const int64_t *kept = accept ? other : mine;
        for (int64_t k = 0; k < width; k++) loads[kept[k]]++;
        profile[i] = accept ? then : now;
    }
}
