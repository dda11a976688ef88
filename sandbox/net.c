/* SPDX-License-Identifier: ISC */
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/net.h"

#define LO_SECOND	0x7f400001u	/* 127.64.0.1 */
#define LO_MASK		0xffc00000u	/* /10 */

static void
put_address(struct ifreq *r, uint32_t host_order)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(host_order);
	memcpy(&r->ifr_addr, &a, sizeof(r->ifr_addr));
}

int
net_loopback(struct err *e)
{
	AUTO(fd) int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct ifreq second = { .ifr_name = "lo:0" };

	if (s < 0)
		return err_set(e, ERR_SYS, "socket");
	if (ioctl(s, SIOCSIFFLAGS, &up) != 0)
		return err_set(e, ERR_SYS, "loopback up");
	put_address(&second, LO_SECOND);
	if (ioctl(s, SIOCSIFADDR, &second) != 0)
		return err_set(e, ERR_SYS, "second loopback address");
	put_address(&second, LO_MASK);
	if (ioctl(s, SIOCSIFNETMASK, &second) != 0)
		return err_set(e, ERR_SYS, "second loopback address");
	return 0;
}
