/* What a careful C programmer would write for second-order Q-learning with the paper's defaults on an open grid: the
 * yardstick for the compiled engine.
 *
 * The same draws and the same arithmetic in the same order as the engine, so cells, scores and weights must equal
 * the engine's bit for bit. Nothing else is shared: what a robot knows of an action lies together, the options of a
 * cell follow from which borders it touches, nine of them nearly always, and only what this form of the rule needs
 * is there: no other forms, no noise, a constant step.
 */
#include <stdlib.h>

#include "coverage.c" /* the draws, and the coverage game */

enum { PRIORITY = 3, OPTIONS = DIRECTIONS + 1, KINDS = 9, INSIDE = 4 };

typedef struct {
    double weight, score; /* the weight as it was at time `since` */
    int64_t since;
} Entry;

typedef struct {
    Coverage game;
    double mu, vartheta, zeta, xi;
    const double *powers; /* of 1 - vartheta; later ones are 0 */
    int64_t num_powers;
    Entry *entries; /* those of robot i from i * columns * rows on */
} Soql;

typedef struct {
    Place at, before;
    Entry *entries; /* this robot's */
    double older;   /* the score of the last action before its last update */
    double received, largest;
    int8_t kind, favourite, drawn, moved; /* kind of cell; the next two are options there */
} Robot;

/* The options in a cell that touches these borders: staying, then the moves row by row. */
static int8_t COUNT[KINDS], OPTION_X[KINDS][OPTIONS], OPTION_Y[KINDS][OPTIONS];
static double OPTION_COST[KINDS][OPTIONS];
static int32_t SHIFT[KINDS][OPTIONS]; /* to the entry of the option */

static inline int8_t kind_of(const Coverage *g, Place at)
{
    return (int8_t)(3 * ((at.y > 0) + (at.y == g->rows - 1)) + (at.x > 0) + (at.x == g->columns - 1));
}

static void list_options(const Coverage *g)
{
    for (int kind = 0; kind < KINDS; kind++) {
        COUNT[kind] = 1;
        for (int d = 0; d < DIRECTIONS; d++) {
            if (abs(DX[d] + kind % 3 - 1) > 1 || abs(DY[d] + kind / 3 - 1) > 1) continue;
            int k = COUNT[kind]++;
            OPTION_X[kind][k] = DX[d];
            OPTION_Y[kind][k] = DY[d];
            OPTION_COST[kind][k] = COST[d];
            SHIFT[kind][k] = DY[d] * (int32_t)g->columns + DX[d];
        }
    }
}

static inline Entry *entry_at(const Coverage *g, const Robot *r) { return r->entries + r->at.y * g->columns + r->at.x; }

static inline double power(const Soql *s, int64_t k) { return k < s->num_powers ? s->powers[k] : 0.0; }

/* The robot's strategy over its options, perturbed, and an option drawn from it. */
static inline __attribute__((always_inline)) void draw(const Soql *s, Robot *r, int kind, int count, double unit)
{
    const Entry *here = entry_at(&s->game, r);
    const int32_t *shift = SHIFT[kind];
    double share[OPTIONS], total = 0.0, largest = 0.0, rho = 0.0, reached = 0.0;
    int64_t latest = 0;
    int favourite = 0, drawn = -1;
    for (int k = 0; k < count; k++)
        if (here[shift[k]].since > latest) latest = here[shift[k]].since;
    for (int k = 0; k < count; k++) {
        const Entry *e = here + shift[k];
        share[k] = e->weight * power(s, latest - e->since);
        total += share[k];
        if (share[k] > largest) largest = share[k], favourite = k;
    }
    for (int k = 0; k < count; k++) share[k] /= total;
    largest /= total;
    if (largest > s->zeta) {
        double t = (largest - s->zeta) / (1.0 - s->zeta);
        if (t > 1.0) t = 1.0;
        rho = s->xi * t * t * (3.0 - 2.0 * t);
        for (int k = 0; k < count; k++) share[k] = (1.0 - rho) * share[k] + rho / count;
    }
    for (int k = 0; k < count && drawn < 0; k++) {
        reached += share[k];
        if (unit < reached) drawn = k;
    }
    r->largest = largest;
    r->favourite = (int8_t)favourite;
    r->drawn = (int8_t)(drawn < 0 ? favourite : drawn);
}

/* Of the robots that have drawn anything but their favourite, one may play it (Assumption 7). */
static void step_out_of_line(Robot *robots, int64_t count, uint64_t key, int64_t n)
{
    int64_t strays = 0;
    for (int64_t i = 0; i < count; i++) strays += robots[i].drawn != robots[i].favourite;
    if (strays < 2) return;
    int64_t chosen = (int64_t)(uniform(key, count, n, 0, PRIORITY) * strays);
    for (int64_t i = 0; i < count; i++)
        if (robots[i].drawn != robots[i].favourite && chosen-- != 0) robots[i].drawn = robots[i].favourite;
}

/* Weights grow towards the best options by the scores before this step. */
static inline __attribute__((always_inline)) void respond(const Soql *s, Robot *r, int kind, int count, int64_t n)
{
    Entry *here = entry_at(&s->game, r);
    const int32_t *shift = SHIFT[kind];
    double best = -INFINITY;
    int ties = 0;
    for (int k = 0; k < count; k++) {
        double score = here[shift[k]].score;
        ties = score > best ? 1 : ties + (score == best);
        best = score > best ? score : best;
    }
    for (int k = 0; k < count; k++) {
        Entry *e = here + shift[k];
        if (e->score != best) continue;
        e->weight = e->weight * power(s, n + 1 - e->since) + s->vartheta / ties;
        e->since = n + 1;
    }
}

void soql(Soql *given, int64_t steps)
{
    const Soql copy = *given, *s = &copy; /* nothing that the loop writes can change it */
    const Coverage *g = &s->game;
    const double keep = 1.0 - s->mu;
    int64_t count = g->robots, cells = g->columns * g->rows, changes = 0;
    Robot *robots = calloc((size_t)count, sizeof *robots);
    list_options(g);
    for (int64_t i = 0; i < count; i++) {
        robots[i].at = g->place[i];
        robots[i].kind = kind_of(g, g->place[i]);
        robots[i].entries = s->entries + i * cells;
    }
    for (int64_t n = 0; n < steps; n++) {
        int64_t settled = 0;
        for (int64_t i = 0; i < count; i++) {
            Robot *r = robots + i;
            double unit = uniform(g->key, count, n, i, CHOICE);
            if (r->kind == INSIDE) draw(s, r, INSIDE, OPTIONS, unit);
            else draw(s, r, r->kind, COUNT[r->kind], unit);
            settled += r->largest > s->zeta;
        }
        if (settled == count) step_out_of_line(robots, count, g->key, n);
        for (int64_t i = 0; i < count; i++) {
            Robot *r = robots + i;
            r->moved = r->drawn != 0;
            if (!r->moved) continue;
            r->before = r->at;
            r->at.x += OPTION_X[r->kind][r->drawn];
            r->at.y += OPTION_Y[r->kind][r->drawn];
            shift_cover(g, cell_at(g, r->before), cell_at(g, r->at));
        }
        for (int64_t i = 0; i < count; i++) {
            Robot *r = robots + i;
            int64_t cell = cell_at(g, r->at);
            r->received = foreign_flag(g, cell, i) ? 0.0 : bracket_here(g, cell);
            if (r->moved) r->received -= OPTION_COST[r->kind][r->drawn];
        }
        for (int64_t i = 0; i < count; i++) {
            Robot *r = robots + i;
            if (r->moved) {
                changes++;
                lay_flag(g, cell_at(g, r->at), i);
                r->kind = kind_of(g, r->at);
            }
            if (r->kind == INSIDE) respond(s, r, INSIDE, OPTIONS, n);
            else respond(s, r, r->kind, COUNT[r->kind], n);
            Entry *e = entry_at(g, r);
            double q = e->score, before = r->moved || n == 0 ? q : r->older; /* a score at rest has not changed */
            e->score = 2.0 * keep * q - keep * keep * before + s->mu * s->mu * r->received;
            r->older = q;
        }
    }
    for (int64_t i = 0; i < count; i++) g->place[i] = robots[i].at;
    free(robots);
    given->game.revisions += steps * count;
    given->game.changes += changes;
}
