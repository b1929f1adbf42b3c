import { WINDOW_HOST } from './window-host.ts';

/**
 * The one spelling of a host: lower case, without port, brackets and trailing dot, addresses as browsers write them (`127.1` is
 * `127.0.0.1`). What is no host is only put in lower case.
 */
export function canonicalHost(written: string): string {
  const url = [`http://${written}/`, `http://[${written}]/`].find((one) => URL.canParse(one));
  const name = url === undefined ? written.toLowerCase() : new URL(url).hostname;
  return name.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
}

/** Is it this machine for whoever asks, or the window's alone, so that nothing may be published under it (D-151)? */
export function isReservedHost(canonical: string): boolean {
  return (
    canonical === 'localhost' ||
    canonical === WINDOW_HOST ||
    /^(127|0)\.\d+\.\d+\.\d+$/.test(canonical) ||
    /^::1?$|^::ffff:(7f|0:)/.test(canonical)
  );
}
