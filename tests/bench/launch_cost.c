/* SPDX-License-Identifier: ISC */
/*
 * launch_cost N PID COMMAND... - what one run of COMMAND costs: wall and CPU, as
 * medians of N runs, in microseconds, with the median absolute deviation.
 *
 * CPU is counted with a subreaper, so that a first process that its launcher
 * never reaps (bwrap's) counts too; the time of process PID and of what it
 * reaped (gloved and its supervisors) is added; 0: none.
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double
wall_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Its own time and that of what it reaped; schedstat is exact, stat is ticks. */
static double
cpu_of_us(int pid)
{
	char path[64], line[1024];
	unsigned long u, s;
	long cu, cs;
	FILE *f;

	if (pid <= 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	(void)fclose(f);
	if (strrchr(line, ')') == NULL || sscanf(strrchr(line, ')') + 2,
	    "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
	    &u, &s, &cu, &cs) != 4)
		return 0;
	return (double)(u + s + (unsigned long)cu + (unsigned long)cs) * 1e6 /
	    (double)sysconf(_SC_CLK_TCK);
}

static double
cpu_children_us(void)
{
	struct rusage r;

	(void)getrusage(RUSAGE_CHILDREN, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
	    (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_size);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int
main(int argc, char *argv[])
{
	int n = argc > 3 ? atoi(argv[1]) : 0, also, status, bad = 0;
	double *wall, *dev, cpu, mid;
	pid_t pid;

	if (n < 3) {
		fprintf(stderr, "usage: launch_cost N PID COMMAND...\n");
		return 2;
	}
	also = atoi(argv[2]);
	wall = calloc((size_t)n, sizeof(*wall));
	dev = calloc((size_t)n, sizeof(*dev));
	if (wall == NULL || dev == NULL)
		return 71;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	cpu = cpu_children_us() + cpu_of_us(also);
	for (int i = 0; i < n; i++) {
		double start = wall_us();

		if (posix_spawnp(&pid, argv[3], NULL, NULL, argv + 3, environ) != 0)
			return 127;
		(void)waitpid(pid, &status, 0);
		wall[i] = wall_us() - start;
		bad += status != 0;
		while (wait(&status) > 0)	/* orphans count too */
			continue;
	}
	/* What gloved has still to reap is reaped within a moment. */
	(void)usleep(200000);
	cpu = (cpu_children_us() + cpu_of_us(also) - cpu) / n;
	mid = median(wall, n);
	for (int i = 0; i < n; i++)
		dev[i] = wall[i] > mid ? wall[i] - mid : mid - wall[i];
	printf("%.0f %.0f %.0f %d\n", mid, median(dev, n), cpu, bad);
	free(wall);
	free(dev);
	return bad ? 1 : 0;
}
