/** Lower case, without port, brackets and trailing dot, addresses as in browsers (`127.1` is `127.0.0.1`). */
export function canonicalHost(written: string): string {
  const url = [`http://${written}/`, `http://[${written}]/`].find((candidate) => URL.canParse(candidate));
  const name = url === undefined ? written.toLowerCase() : new URL(url).hostname;
  return withoutTrailing(name.replace(/^\[(.*)\]$/, '$1'), '.');
}

/** True if a connection to the host reaches this machine, also one to all its addresses (0.0.0.0). */
export function leadsToThisMachine(canonical: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){1,3}|0\.0\.0\.0|::1?|::ffff:(127(\.\d+){3}|7f[0-9a-f]*:[0-9a-f]+|0:0))$/.test(
    canonical,
  );
}

const METADATA_HOST =
  /^(169\.254(\.\d+){2}|::ffff:a9fe:[0-9a-f]+|fd00:ec2::254|100\.100\.100\.200|::ffff:6464:64c8|metadata\.google\.internal)$/;

/** True if the host is the metadata service of a cloud, which hands out credentials. */
export function isMetadataHost(canonical: string): boolean {
  return METADATA_HOST.test(canonical);
}

/** True if the host is a loopback name, or reserved for the window, so that no endpoint can use it (D-151). */
export function isReservedHost(canonical: string): boolean {
  return (
    canonical === 'localhost' ||
    canonical === WINDOW_HOST ||
    /^(127|0)\.\d+\.\d+\.\d+$/.test(canonical) ||
    /^::1?$|^::ffff:(7f|0:)/.test(canonical)
  );
}

/** Browsers resolve names below `localhost` to this machine. An own name keeps the window's cookie from other servers (D-214). */
export const WINDOW_HOST = 'terrarium.localhost';

/** A text without that character at its end. The regular expression `/x+$/` would take quadratic time. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
