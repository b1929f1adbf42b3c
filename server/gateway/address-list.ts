import { BlockList, isIP } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The addresses and CIDR ranges of an endpoint's `whitelist` (D-060). An IPv4-mapped IPv6 address equals its IPv4 address. */
export class AddressList {
  readonly #list = new BlockList();

  /** @param entries such as `10.0.0.7`, `192.168.0.0/16`, `fd00::/8`; one that is no address matches nobody */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry.trim());
  }

  #add(entry: string): void {
    const [written = '', bits] = entry.split('/', 2);
    const address = unmapped(written);
    const family = familyOf(address);
    if (!family) return;
    if (bits === undefined) {
      this.#list.addAddress(address, family);
      return;
    }
    const length = address === written ? Number(bits) : Number(bits) - 96;
    if (/^\d+$/.test(bits) && length >= 0 && length <= (family === 'ipv4' ? 32 : 128)) {
      this.#list.addSubnet(address, length, family);
    }
  }

  /** Is a peer's address, as a socket tells it, in the list? */
  has(peer: string | undefined): boolean {
    const address = unmapped(peer ?? '');
    const family = familyOf(address);
    return family !== undefined && this.#list.check(address, family);
  }
}

function unmapped(address: string): string {
  return MAPPED.exec(address)?.[1] ?? address;
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const family = isIP(address);
  return family === 0 ? undefined : family === 4 ? 'ipv4' : 'ipv6';
}
