/* Plays Wubbel: rolls until the turn has brought 20 points, then saves.
 *
 * cc -O2 -o hold hold.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLL, SAVE };

/* The whole number after a key, such as "turn": of one line, whose keys are known. */
static long number(const char *line, const char *key) {
    const char *found = strstr(line, key);
    return found ? strtol(found + strlen(key), NULL, 10) : 0;
}

int main(void) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        long id = number(line, "\"id\":");
        if (strstr(line, "\"ask\":\"hello\""))
            printf("{\"id\":%ld,\"name\":\"hold at 20, in C\"}\n", id);
        else if (strstr(line, "\"ask\":\"action\""))
            printf("{\"id\":%ld,\"action\":%d}\n", id, number(line, "\"turn\":") >= 20 ? SAVE : ROLL);
        fflush(stdout);
    }
    return 0;
}
