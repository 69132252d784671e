/* Bellman's operator on a sparse decision process, as a plain loop in C.
 *
 *     cc -O3 -march=native -o sweep sweep.c
 *     ./sweep FILE STATES CHOICES TRANSITIONS DISCOUNT REPETITIONS
 *
 * FILE has, in native byte order and one after the other: STATES + 1 offsets of the states' choices
 * and CHOICES + 1 offsets of the choices' transitions (int64), TRANSITIONS successors (int32) and
 * probabilities (double), CHOICES rewards and STATES values (double). All movers want the most.
 *
 * Prints one JSON object: the sum of the new values, the sum of the numbers of the best choices, and
 * the seconds of processor time that the fastest of REPETITIONS sweeps took.
 */

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *part(FILE *file, size_t count, size_t size)
{
    void *array = malloc(count * size);
    if (!array || fread(array, size, count, file) != count) {
        fprintf(stderr, "sweep: the file is too short, or there is too little memory\n");
        exit(1);
    }
    return array;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char **words)
{
    if (count != 7) {
        fprintf(stderr, "usage: sweep FILE STATES CHOICES TRANSITIONS DISCOUNT REPETITIONS\n");
        return 2;
    }
    FILE *file = fopen(words[1], "rb");
    if (!file) {
        fprintf(stderr, "sweep: cannot read %s\n", words[1]);
        return 1;
    }
    const size_t states = strtoull(words[2], NULL, 10);
    const size_t choices = strtoull(words[3], NULL, 10);
    const size_t transitions = strtoull(words[4], NULL, 10);
    const double discount = strtod(words[5], NULL);
    const int repetitions = atoi(words[6]);
    const int64_t *choice_offsets = part(file, states + 1, sizeof *choice_offsets);
    const int64_t *offsets = part(file, choices + 1, sizeof *offsets);
    const int32_t *successors = part(file, transitions, sizeof *successors);
    const double *probabilities = part(file, transitions, sizeof *probabilities);
    const double *rewards = part(file, choices, sizeof *rewards);
    const double *values = part(file, states, sizeof *values);
    fclose(file);
    double *new_values = malloc(states * sizeof *new_values);
    int64_t *policy = malloc(states * sizeof *policy);
    double fastest = INFINITY;

    for (int repetition = 0; repetition < repetitions; repetition++) {
        const double start = now();
        for (size_t state = 0; state < states; state++) {
            double best = -INFINITY;
            int64_t best_choice = choice_offsets[state];
            for (int64_t choice = choice_offsets[state]; choice < choice_offsets[state + 1]; choice++) {
                double total = 0.0;
                for (int64_t t = offsets[choice]; t < offsets[choice + 1]; t++)
                    total += probabilities[t] * values[successors[t]];
                const double result = rewards[choice] + discount * total;
                best_choice = result > best ? choice : best_choice;
                best = result > best ? result : best;
            }
            new_values[state] = best;
            policy[state] = best_choice;
        }
        const double taken = now() - start;
        fastest = taken < fastest ? taken : fastest;
    }

    double sum = 0.0;
    int64_t chosen = 0;
    for (size_t state = 0; state < states; state++) {
        sum += new_values[state];
        chosen += policy[state];
    }
    printf("{\"sum\": %.17g, \"chosen\": %" PRId64 ", \"seconds\": %.9g}\n", sum, chosen, fastest);
    return 0;
}
