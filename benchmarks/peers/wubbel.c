/* Wubbel solved the way the article "Würfeln mit Wubbel" solves it, as fast as plain C can.
 *
 *     cc -O3 -march=native -o wubbel wubbel.c
 *     ./wubbel GOAL CHANGE [TABLE]
 *
 * Pairs of scores are solved by falling sum, for only a save leaves a pair, and it raises the sum.
 * The positions of one pair depend on each other: all of them are recomputed from their last values
 * (Jacobi sweeps, from a start of all ones) until none changes by more than CHANGE in a sweep. That
 * is no bound on the error, which is 22 times larger for GOAL 50 and 36 times for 100.
 *
 * Prints one JSON object: the winning probability at the start, the sweeps over pairs, the
 * evaluations of positions, and the seconds of processor time that the solve took. With TABLE,
 * writes GOAL * GOAL * GOAL doubles in native byte order to that file: the winning probability for
 * the mover's safe points, the opponent's, and the turn's, the last running fastest; 1 where the
 * first and the last reach the goal.
 */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PIPS = 5 }; /* the faces 1 to 5 score, the 6 busts */

/* The positions of a turn: one player is to move, both scores are fixed. */
struct turn {
    int length;     /* points of the turn that do not win yet: 0 .. length - 1 */
    double *save;   /* the value of saving, known before the sweeps begin */
    double *value;  /* the values of the last sweep; ones from `length` on, where the turn wins */
    double *update; /* the values of this sweep; likewise */
};

struct counts {
    long long sweeps, evaluations;
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "wubbel: no memory for %zu items of %zu bytes\n", count, size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

static size_t padded(int length)
{
    return (size_t)length + PIPS;
}

static struct turn new_turn(int goal)
{
    return (struct turn){
        .save = allocate(padded(goal), sizeof(double)),
        .value = allocate(padded(goal), sizeof(double)),
        .update = allocate(padded(goal), sizeof(double)),
    };
}

static void free_turn(struct turn *turn)
{
    free(turn->save);
    free(turn->value);
    free(turn->update);
}

/* `start[a * goal + b]` is the value for a player with a points, against b, whose turn begins. */
static void begin(struct turn *turn, int own, int opponent, int goal, const double *start)
{
    turn->length = goal - own;
    turn->save[0] = 0; /* a turn begins with a roll */
    for (int points = 1; points < turn->length; points++)
        turn->save[points] = 1 - start[(size_t)opponent * goal + own + points];
    for (size_t points = 0; points < padded(turn->length); points++)
        turn->value[points] = turn->update[points] = 1;
}

/* Recompute a turn, given the value of the player who moves after a bust; say whether a value
 * changed by more than `tolerated`. (A flag and not the largest change: compilers do not reorder a
 * maximum, and the loop would stay scalar. The flag is as wide as a double.) */
static long long sweep(struct turn *turn, double answer, double tolerated)
{
    const double bust = 1 - answer;
    const double *restrict save = turn->save, *restrict value = turn->value;
    double *restrict update = turn->update;
    long long changed = 0;

    for (int points = 0; points < turn->length; points++) {
        const double *next = value + points;
        double roll = (next[1] + next[2] + next[3] + next[4] + next[5] + bust) * (1.0 / 6);
        double best = roll > save[points] ? roll : save[points];
        double change = best > next[0] ? best - next[0] : next[0] - best;
        update[points] = best;
        changed |= change > tolerated;
    }
    return changed;
}

static void swap(struct turn *turn)
{
    double *old = turn->value;
    turn->value = turn->update;
    turn->update = old;
}

/* Sweep the turns of both players until nothing changes by more than `tolerated`. With equal scores
 * the two are the same turn, and `second` is null. */
static void iterate(struct turn *first, struct turn *second, double tolerated,
                    struct counts *counts)
{
    long long changed;
    do {
        changed = sweep(first, second ? second->value[0] : first->value[0], tolerated);
        if (second) {
            changed |= sweep(second, first->value[0], tolerated);
            swap(second);
        }
        swap(first);
        counts->sweeps++;
        counts->evaluations += first->length + (second ? second->length : 0);
    } while (changed);
}

static void store(const struct turn *turn, int own, int opponent, int goal, double *start,
                  double *table)
{
    size_t row = (size_t)own * goal + opponent;
    start[row] = turn->value[0];
    for (int points = 0; points < goal; points++)
        table[row * goal + points] = points < turn->length ? turn->value[points] : 1;
}

static struct counts solve(int goal, double tolerated, double *start, double *table)
{
    struct turn leader = new_turn(goal), follower = new_turn(goal);
    struct counts counts = {0, 0};

    for (int sum = 2 * (goal - 1); sum >= 0; sum--)
        for (int more = (sum + 1) / 2; more < goal && more <= sum; more++) {
            int less = sum - more;
            begin(&leader, more, less, goal, start);
            if (more == less) {
                iterate(&leader, NULL, tolerated, &counts);
            } else {
                begin(&follower, less, more, goal, start);
                iterate(&leader, &follower, tolerated, &counts);
                store(&follower, less, more, goal, start, table);
            }
            store(&leader, more, less, goal, start, table);
        }
    free_turn(&leader);
    free_turn(&follower);
    return counts;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int write_table(const char *path, const double *table, size_t count)
{
    FILE *file = fopen(path, "wb");
    int complete = file && fwrite(table, sizeof *table, count, file) == count;
    if (file && fclose(file))
        complete = 0;
    if (!complete)
        perror(path);
    return complete;
}

int main(int argc, char **argv)
{
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    double tolerated = argc > 2 ? atof(argv[2]) : 0;
    if (argc < 3 || argc > 4 || goal < 1 || goal > 1000 || !(tolerated >= 1e-15)) {
        fprintf(stderr,
                "usage: %s GOAL CHANGE [TABLE], with 1 <= GOAL <= 1000 and CHANGE >= 1e-15\n"
                "(rounding may keep values changing by less for ever)\n",
                argv[0]);
        return 2;
    }
    size_t pairs = (size_t)goal * goal;
    double *start = allocate(pairs, sizeof *start);
    double *table = allocate(pairs * goal, sizeof *table);

    double began = seconds();
    struct counts counts = solve(goal, tolerated, start, table);
    double took = seconds() - began;

    printf("{\"goal\": %d, \"change\": %g, \"value\": %.17g, \"sweeps\": %lld, "
           "\"evaluations\": %lld, \"seconds\": %.6f}\n",
           goal, tolerated, table[0], counts.sweeps, counts.evaluations, took);
    int written = argc < 4 || write_table(argv[3], table, pairs * goal);
    free(start);
    free(table);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
