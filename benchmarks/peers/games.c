/* Games of Wubbel between two players who save as soon as a turn has brought so many points.
 *
 *     cc -O3 -march=native -o games games.c
 *     ./games GOAL FIRST SECOND GAMES SEED
 *
 * One die that busts on six. A save wins by reaching the goal, and so does a throw. Random numbers
 * come from SplitMix64.
 *
 * Prints one JSON object: the games that the first player has won, the plies of all games, and the
 * seconds of processor time that they took.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t counter;

static uint64_t drawn(void)
{
    uint64_t bits = counter += 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* Throw a die: the upper 32 bits times six, all but exactly. */
static int thrown(void)
{
    return 1 + (int)(((drawn() >> 32) * 6) >> 32);
}

int main(int count, char **arguments)
{
    if (count != 6) {
        fprintf(stderr, "usage: games GOAL FIRST SECOND GAMES SEED\n");
        return EXIT_FAILURE;
    }
    int goal = atoi(arguments[1]);
    int hold[2] = {atoi(arguments[2]), atoi(arguments[3])};
    long games = atol(arguments[4]);
    long long wins = 0, plies = 0;
    counter = strtoull(arguments[5], NULL, 10);
    clock_t start = clock();
    for (long game = 0; game < games; game++) {
        int points[2] = {0, 0}, mover = 0, turn = 0;
        while (points[mover] + turn < goal) {
            plies++;
            if (turn >= hold[mover]) {
                points[mover] += turn;
            } else {
                int face = thrown();
                if (face != 6) {
                    turn += face;
                    continue;
                }
            }
            turn = 0;
            mover = 1 - mover;
        }
        wins += mover == 0;
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("{\"wins\": %lld, \"plies\": %lld, \"seconds\": %.6f}\n", wins, plies, seconds);
    return EXIT_SUCCESS;
}
