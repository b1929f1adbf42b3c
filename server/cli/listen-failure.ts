import { once } from 'node:events';
import { createServer } from 'node:net';

/** Why a port cannot be listened on; undefined if it is free. */
export async function listenFailure(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (failure) {
    return failure instanceof Error ? failure : new Error(String(failure));
  }
}
