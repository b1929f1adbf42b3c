import { BlockList, isIP } from 'node:net';

/**
 * The addresses and CIDR ranges of an endpoint's `whitelist` (D-060). An IPv4-mapped IPv6 address equals its IPv4 address, as
 * BlockList has it.
 */
export class AddressList {
  readonly #list = new BlockList();

  /** @param entries such as `10.0.0.7`, `192.168.0.0/16`, `fd00::/8`; one that is no address matches nobody */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry.trim());
  }

  #add(entry: string): void {
    const [address = '', bits] = entry.split('/', 2);
    const family = familyOf(address);
    if (!family) return;
    if (bits === undefined) this.#list.addAddress(address, family);
    else if (/^\d+$/.test(bits) && Number(bits) <= (family === 'ipv4' ? 32 : 128)) {
      this.#list.addSubnet(address, Number(bits), family);
    }
  }

  /** Is a peer's address, as a socket tells it, in the list? */
  has(peer: string | undefined): boolean {
    const family = familyOf(peer ?? '');
    return family !== undefined && this.#list.check(peer ?? '', family);
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const family = isIP(address);
  return family === 0 ? undefined : family === 4 ? 'ipv4' : 'ipv6';
}
