/* What a careful C programmer would write for one fixed game: robots on an open grid that move to one of the
 * eight adjacent cells and cover nine (range 1.5). The yardstick for the compiled engine.
 *
 * The same draws and the same arithmetic in the same order as the engine, so the final cells must equal the
 * engine's bit for bit. Nothing else is shared: a robot is its place, a move is one of eight directions, what
 * a direction changes is a constant, all loops have fixed lengths, and the cells of the area lie inside a frame
 * one cell wide, so that nothing is asked at a border but which moves there are.
 */
#include "reference.c" /* the draws, and the binary logit */

enum { RANGE = 9, DIRECTIONS = 8, SHARED = -1 };

typedef struct { int32_t x, y; } Place;

typedef struct {
    int64_t columns, rows, robots;
    const double *worth; /* framed, as are the next two */
    int32_t *counts;     /* robots that cover a cell */
    int32_t *flags;      /* nobody's: 0, robot i's: i + 1, several robots': SHARED; NULL without flags */
    Place *place;
    double cost, tau, revision;
    uint64_t key;
    int32_t *awake; /* from here on, room for a synchronous step */
    int8_t *direction, *accepted;
    double *before;
    int64_t revisions, changes; /* so far */
} Coverage;

/* Directions row by row, as the engine lists moves. */
static const int8_t DX[DIRECTIONS] = {-1, 0, 1, -1, 1, -1, 0, 1}, DY[DIRECTIONS] = {-1, -1, -1, 0, 0, 1, 1, 1};

/* 1 + whether cell k of the range after a step in this direction was in range before it; what the step costs. */
static int32_t KEPT[DIRECTIONS][RANGE];
static double COST[DIRECTIONS];

static inline int64_t cell_at(const Coverage *g, Place at) { return (at.y + 1) * (g->columns + 2) + at.x + 1; }

static inline int foreign_flag(const Coverage *g, int64_t cell, int64_t i)
{
    return g->flags && g->flags[cell] != 0 && g->flags[cell] != i + 1;
}

static inline void lay_flag(const Coverage *g, int64_t cell, int64_t i)
{
    if (g->flags) g->flags[cell] = foreign_flag(g, cell, i) ? SHARED : (int32_t)i + 1;
}

/* Where all robots begin. */
void coverage_begin(Coverage *g)
{
    for (int d = 0; d < DIRECTIONS; d++) {
        COST[d] = g->cost * sqrt(DX[d] * DX[d] + DY[d] * DY[d]);
        for (int k = 0; k < RANGE; k++) {
            int x = k % 3 - 1 + DX[d], y = k / 3 - 1 + DY[d];
            KEPT[d][k] = 1 + (x * x + y * y <= 2);
        }
    }
    for (int64_t i = 0; i < g->robots; i++) {
        int64_t cell = cell_at(g, g->place[i]);
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) g->counts[cell + y * (g->columns + 2) + x]++;
        lay_flag(g, cell, i);
    }
}

/* Σ f(l) · (share[l] - robots that cover l) over the range, row by row. */
static inline double bracket(const Coverage *g, int64_t cell, const int32_t *share)
{
    double total = 0.0;
    int64_t width = g->columns + 2;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) {
            int64_t l = cell + (y - 1) * width + x - 1;
            total += g->worth[l] * (share[3 * y + x] - g->counts[l]);
        }
    return total;
}

static inline double bracket_here(const Coverage *g, int64_t cell)
{
    static const int32_t all[RANGE] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    return bracket(g, cell, all);
}

static inline void shift_cover(const Coverage *g, int64_t from, int64_t to)
{
    int64_t width = g->columns + 2;
    int32_t *old = g->counts + from - width - 1, *new = g->counts + to - width - 1;
    for (int y = 0; y < 3; y++, old += width) old[0]--, old[1]--, old[2]--;
    for (int y = 0; y < 3; y++, new += width) new[0]++, new[1]++, new[2]++;
}

static inline int draw_direction(const Coverage *g, Place at, double unit)
{
    if (at.x > 0 && at.x < g->columns - 1 && at.y > 0 && at.y < g->rows - 1) return (int)(unit * DIRECTIONS);
    int legal[DIRECTIONS], count = 0;
    for (int d = 0; d < DIRECTIONS; d++) {
        int x = at.x + DX[d], y = at.y + DY[d];
        legal[count] = d;
        count += x >= 0 && x < g->columns && y >= 0 && y < g->rows;
    }
    return legal[(int)(unit * count)];
}

void coverage_blll(Coverage *game, int64_t steps)
{
    const Coverage copy = *game, *g = &copy; /* nothing that the loop writes can change it */
    int64_t changes = 0;
    for (int64_t n = 0; n < steps; n++) {
        int64_t i = (int64_t)(uniform(g->key, g->robots, n, 0, WAKE) * g->robots);
        Place at = g->place[i];
        int d = draw_direction(g, at, uniform(g->key, g->robots, n, i, TRIAL));
        int64_t cell = cell_at(g, at), goal = cell + DY[d] * (g->columns + 2) + DX[d];
        double now = bracket_here(g, cell), then = bracket(g, goal, KEPT[d]);
        if (foreign_flag(g, cell, i)) now = 0.0;
        if (foreign_flag(g, goal, i)) then = 0.0;
        then -= COST[d];
        if (uniform(g->key, g->robots, n, i, CHOICE) < binary_logit(now, then, g->tau)) {
            shift_cover(g, cell, goal);
            lay_flag(g, goal, i);
            g->place[i] = (Place){at.x + DX[d], at.y + DY[d]};
            changes++;
        }
    }
    game->revisions += steps;
    game->changes += changes;
}

/* Joint trials: everybody awake tries at once, then each keeps its own or takes it back. */
void coverage_psblll(Coverage *game, int64_t steps)
{
    const Coverage copy = *game, *g = &copy;
    int64_t width = g->columns + 2, revisions = 0, changes = 0;
    for (int64_t n = 0; n < steps; n++) {
        int64_t awake = 0;
        for (int64_t i = 0; i < g->robots; i++) {
            g->awake[awake] = (int32_t)i;
            awake += uniform(g->key, g->robots, n, i, WAKE) < g->revision;
        }
        revisions += awake;
        for (int64_t k = 0; k < awake; k++) {
            int64_t i = g->awake[k], cell = cell_at(g, g->place[i]);
            g->direction[k] = (int8_t)draw_direction(g, g->place[i], uniform(g->key, g->robots, n, i, TRIAL));
            g->before[k] = foreign_flag(g, cell, i) ? 0.0 : bracket_here(g, cell);
        }
        for (int64_t k = 0; k < awake; k++) {
            int d = g->direction[k];
            Place *at = g->place + g->awake[k];
            int64_t cell = cell_at(g, *at);
            shift_cover(g, cell, cell + DY[d] * width + DX[d]);
            at->x += DX[d], at->y += DY[d];
        }
        for (int64_t k = 0; k < awake; k++) {
            int64_t i = g->awake[k], cell = cell_at(g, g->place[i]);
            double after = foreign_flag(g, cell, i) ? 0.0 : bracket_here(g, cell);
            after -= COST[g->direction[k]];
            g->accepted[k] = uniform(g->key, g->robots, n, i, CHOICE) < binary_logit(g->before[k], after, g->tau);
        }
        for (int64_t k = 0; k < awake; k++) {
            int d = g->direction[k];
            Place *at = g->place + g->awake[k];
            int64_t cell = cell_at(g, *at);
            if (g->accepted[k]) {
                lay_flag(g, cell, g->awake[k]);
                changes++;
            } else {
                shift_cover(g, cell, cell - DY[d] * width - DX[d]);
                at->x -= DX[d], at->y -= DY[d];
            }
        }
    }
    game->revisions += revisions;
    game->changes += changes;
}
