import type { DockerEngine } from './docker/docker-engine.ts';

const LISTEN_STATE = '0A';
/** The address of the engine's own name server in each instance. */
const NAME_SERVER = '127.0.0.11';

export interface ListeningSocket {
  port: number;
  isLoopback: boolean;
}

/** Reads where the programs of an instance listen; undefined where that cannot be read, for example in an image without `cat`. */
export async function readListeningSockets(
  engine: DockerEngine,
  instanceId: string,
): Promise<ListeningSocket[] | undefined> {
  const { stdout } = await engine.exec(instanceId, ['cat', '/proc/net/tcp', '/proc/net/tcp6']);
  return /local_address/.test(stdout) ? parseSockets(stdout) : undefined;
}

/** Parses the tables of the Linux kernel, which contain addresses as 32 bit words in the byte order of the machine. */
export function parseSockets(tables: string): ListeningSocket[] {
  return tables.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTEN_STATE || addressOf(address) === NAME_SERVER) return [];
    return [{ port: Number.parseInt(port, 16), isLoopback: isLoopback(address) }];
  });
}

function addressOf(hex: string): string {
  return (hex.match(/../g) ?? [])
    .reverse()
    .map((byte) => Number.parseInt(byte, 16))
    .join('.');
}

function isLoopback(address: string): boolean {
  if (address.length === 8) return addressOf(address).startsWith('127.');
  // ::1, or an IPv4 address in the form ::ffff:127.0.0.1.
  return address === '00000000000000000000000001000000' || /^0{16}FFFF0000.{6}7F$/.test(address);
}

/** The sentence, after the name of an instance, about ports on which it does not take connections. */
export function closedPortsSentence(
  closed: readonly number[],
  sockets: readonly ListeningSocket[] | undefined,
): string {
  const ports = `port${closed.length > 1 ? 's' : ''} ${closed.join(', ')}`;
  const isOnLoopback = (port: number) => sockets?.some((socket) => socket.port === port && socket.isLoopback) === true;
  if (closed.every(isOnLoopback))
    return `listens on ${ports} of 127.0.0.1 only, which cannot be reached from outside it. Let its program listen on 0.0.0.0.`;
  const otherPorts = [...new Set((sockets ?? []).map(({ port }) => port))].filter((port) => !closed.includes(port));
  if (otherPorts.length > 0)
    return `does not listen on ${ports}, but on ${otherPorts.join(', ')}. Change container_port or the port of the check, or the port of its program.`;
  return `does not listen on ${ports}. Check the port and the address (0.0.0.0) on which its program listens.`;
}
