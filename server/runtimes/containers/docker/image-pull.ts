import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthConfig } from 'dockerode';
import { z } from 'zod';
import { reasonOf } from '../../../model/errors.ts';
import { runProgram } from '../../../system/programs.ts';
import { type ApplyOptions, EngineRefusal, EngineUnreachable } from '../engine.ts';
import { clientFolder, type DockerUser } from './docker-address.ts';
import type { DockerConnection } from './docker-connection.ts';

/** A name that means one image: without a tag the daemon would pull every one there is. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return /[:@]/.test(last) ? image : `${image}:latest`;
}

/** Throws EngineRefusal of kind `image` with the message of the registry; EngineUnreachable if the daemon disconnects. */
export async function pullImage(
  connection: DockerConnection,
  image: string,
  { signal, onPull }: Pick<ApplyOptions, 'signal' | 'onPull'>,
): Promise<void> {
  const { pullMs } = connection.limits;
  const authconfig = await registryCredentials(image, connection.user);
  // The beats of the engine show whether the daemon is there.
  const silent = refusal(image, new Error(`the registry did not respond for ${pullMs / 1_000} s`));
  const stream = await connection
    .ask((docker) => docker.pull(withTag(image), { authconfig }))
    .catch((failure: unknown) => {
      if (failure instanceof EngineUnreachable && !failure.isTimeout) throw failure;
      throw failure instanceof EngineUnreachable ? silent : refusal(image, failure);
    });
  const abort = () =>
    stream.removeAllListeners('data') && 'destroy' in stream && Object(stream).destroy(new Error('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  const layers: Layers = new Map();
  let isComplete = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const silence = setTimeout(reject, pullMs, silent).unref();
      stream.once('close', () => reject(new Error('the connection was closed')));
      connection.docker.modem.followProgress(
        stream,
        (failure: Error | null) => {
          clearTimeout(silence);
          if (failure) reject(failure);
          else resolve();
        },
        (event: unknown) => {
          silence.refresh();
          const { error, status, id, progressDetail } = Object(event);
          if (typeof error === 'string') return reject(refusal(image, new Error(error)));
          if (/^(Status:|Digest:)/.test(String(status))) isComplete = true;
          if (typeof id === 'string') noteLayer(layers, id, String(status), Object(progressDetail));
          const knownLayers = [...layers.values()];
          onPull?.({
            image,
            step: String(status ?? ''),
            currentBytes: knownLayers.reduce((sum, layer) => sum + layer.current, 0),
            totalBytes: knownLayers.reduce((sum, layer) => sum + layer.total, 0),
          });
        },
      );
    });
  } catch (failure) {
    if (failure instanceof EngineRefusal) throw failure;
    if (signal.aborted) throw new EngineRefusal('image', `pulling '${image}' was canceled by a newer request`);
    throw connection.toEngineError(failure);
  } finally {
    signal.removeEventListener('abort', abort);
    onPull?.(undefined);
  }
  // A daemon that dies ends the stream as if the pull were complete.
  if (!isComplete) throw connection.toEngineError(new Error('the connection was closed while an image was pulled'));
}

type Layers = Map<string, { current: number; total: number }>;

/** Counts downloaded bytes; unpacking a layer afterwards does not start the count again. */
function noteLayer(layers: Layers, id: string, status: string, { current, total }: Record<string, unknown>): void {
  const knownLayer = layers.get(id);
  if (status === 'Downloading' && typeof total === 'number') layers.set(id, { current: Number(current), total });
  else if (knownLayer && /^(Download complete|Verifying|Extracting|Pull complete)/.test(status))
    knownLayer.current = knownLayer.total;
}

function refusal(image: string, failure: unknown): EngineRefusal {
  const reason = reasonOf(failure).trim();
  const advice = 'check the name and whether the registry is reachable, or build or load the image on this machine';
  return new EngineRefusal('image', `image '${image}' cannot be pulled: ${reason}; ${advice}`, { cause: failure });
}

const DOCKER_HUB = 'https://index.docker.io/v1/';
/** The user name that credential helpers return with a token. */
const TOKEN_USER = '<token>';
const HELPER_TIMEOUT_MS = 10_000;

const hostOf = (address: string) => address.replace(/^https?:\/\//, '').split('/', 1)[0];

const clientFile = z.looseObject({
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })).optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});
const credentials = z.object({ Username: z.string(), Secret: z.string() });

/** Finds the credentials that `docker login` has stored for the registry of an image; undefined if there are none. */
export async function registryCredentials(image: string, user: DockerUser): Promise<AuthConfig | undefined> {
  const [host = ''] = image.split('/', 1);
  const isNamed = image.includes('/') && /[.:]|^localhost$/.test(host) && !/^(index\.)?docker\.io$/.test(host);
  const serveraddress = isNamed ? host : DOCKER_HUB;
  try {
    const file = await readFile(join(clientFolder(user) ?? '', 'config.json'), 'utf8');
    const { auths, credsStore, credHelpers } = clientFile.parse(JSON.parse(file));
    const helper = credHelpers?.[serveraddress] ?? credsStore;
    if (helper === undefined) {
      // Other programs store the address of a registry, which counts for its host, as for the docker command.
      const entries = Object.entries(auths ?? {});
      const [, stored] = entries.find(([address]) => hostOf(address) === hostOf(serveraddress)) ?? [];
      const text = Buffer.from(auths?.[serveraddress]?.auth ?? stored?.auth ?? '', 'base64').toString();
      const [, username, password = ''] = /^([^:]+):(.*)$/s.exec(text) ?? [];
      return username === undefined ? undefined : { username, password, serveraddress };
    }
    const running = runProgram(`docker-credential-${helper}`, ['get'], {
      env: user.env,
      timeout: HELPER_TIMEOUT_MS,
    });
    // A helper may end before it has read its input.
    running.child.stdin?.on('error', () => undefined).end(serveraddress);
    const { Username: username, Secret: secret } = credentials.parse(JSON.parse((await running).stdout));
    if (username === TOKEN_USER) return { identitytoken: secret, serveraddress } as never; // its type lacks tokens
    return { username, password: secret, serveraddress };
  } catch {
    return undefined; // the registry then decides whether the image is public
  }
}
