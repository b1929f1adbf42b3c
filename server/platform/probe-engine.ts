import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { closedSocketReason, dockerAddress } from '../runtimes/containers/docker/docker-address.ts';
import { homeFolder } from '../system/nearest-folder.ts';

const PROBE_TIMEOUT_MS = 10_000;

/**
 * Asks an engine whether it is there; nothing that would speak to it is loaded for that.
 *
 * @param engine `auto` for what the docker command would use, or an address
 * @throws Error that says why not; EngineUnreachable for what is no address
 */
export async function probeEngine(engine: string, env: NodeJS.ProcessEnv) {
  const address = dockerAddress(engine === 'auto' ? undefined : engine, { env, homeDir: homeFolder() });
  const { url, transport } = address;
  const failed = (reason: string) => new Error(`${url} does not answer (${reason})`);
  if (transport.kind === 'ssh' || (transport.kind === 'tcp' && transport.tls))
    throw failed('not looked at: only local and plain tcp addresses are');
  const connectOptions =
    transport.kind === 'socket' ? { socketPath: transport.path } : { host: transport.host, port: transport.port };
  try {
    const pingRequest = request({
      ...connectOptions,
      path: '/_ping',
      agent: new Agent(),
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    }).end();
    const [response] = await once(pingRequest, 'response');
    response.resume();
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    const [, podman] = /^Libpod\/(\S+)/.exec(response.headers.server ?? '') ?? [];
    const api: string | undefined = response.headers['api-version'];
    const parts = [podman && `Podman ${podman}`, api && `API ${api}`].filter(Boolean);
    return { address: url, name: podman ? 'Podman' : 'Docker', said: parts.join(', ') };
  } catch (failure) {
    const { code, message } = Object(failure);
    throw failed(closedSocketReason(address, code) ?? String(message));
  }
}
