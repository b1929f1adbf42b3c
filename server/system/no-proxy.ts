/** `[::1]` as in URLs: some programs take `::1` for a host with a port. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1', '[::1]', 'terrarium.localhost'];

/** Adds loopback, and further hosts of this machine, to NO_PROXY and no_proxy, because most programs read only one of them. */
export function withLoopbackNoProxy<Env extends Readonly<Record<string, string | undefined>>>(
  env: Env,
  hosts: readonly string[] = [],
): Env & { NO_PROXY: string; no_proxy: string } {
  const withLoopback = (text = '') => {
    const present = text.split(',').map((entry) => entry.trim());
    // All hosts; in a list, `*` would be a name.
    if (present.join() === '*') return text;
    return [...new Set([...present, ...LOOPBACK, ...hosts])].filter(Boolean).join(',');
  };
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { ...env, NO_PROXY: withLoopback(upper ?? lower), no_proxy: withLoopback(lower ?? upper) };
}
