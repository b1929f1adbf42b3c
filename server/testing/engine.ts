import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import Docker from 'dockerode';
import { pack } from 'tar-stream';
import { dockerAddress } from '../runtimes/containers/docker/docker-address.ts';
import { type ConnectionOptions, DockerConnection } from '../runtimes/containers/docker/docker-connection.ts';
import { ownedBy } from '../runtimes/containers/docker/labels.ts';
import { removeNetwork } from '../runtimes/containers/docker/networks.ts';

const IMAGE = 'terrarium-test/busybox:1';
const BUSYBOX = '/bin/busybox';
const APPLETS = [
  'sh',
  'cat',
  'echo',
  'env',
  'httpd',
  'id',
  'ls',
  'mkdir',
  'nc',
  'nslookup',
  'rm',
  'sleep',
  'tail',
  'test',
  'touch',
  'true',
  'false',
  'wget',
  'kill',
  'date',
  'head',
  'printf',
  'awk',
  'sed',
  'dd',
];

/** A shell command that waits, and ends immediately when its container is stopped. */
export const IDLE = 'trap "exit 0" TERM; sleep 3600 & wait';

/**
 * A shell command that serves /www, and ends immediately when its container is stopped. The server alone would be the first process of the
 * container, which ignores SIGTERM, so the engine would kill it 10 s later.
 */
export const serveOn = (port: number | string) => `trap "exit 0" TERM; httpd -f -p ${port} -h /www & wait $!`;

/** A connection to the engine that tests use: the same as for the docker command. */
export function connectForTests(url?: string, options: ConnectionOptions = {}): DockerConnection {
  return new DockerConnection(dockerAddress(url, { env: process.env, homeDir: homedir() }), options);
}

/** The engine for tests; throws with instructions if there is none. Nothing is skipped. */
export async function requireEngine(): Promise<Docker> {
  const connection = connectForTests();
  await connection.ask((docker) => docker.ping());
  return connection.docker;
}

/** An image with a static busybox, built locally, so that no registry is needed. */
export async function testImage(tag = IMAGE, docker = new Docker(), applets = APPLETS): Promise<string> {
  const present = await docker
    .getImage(tag)
    .inspect()
    .catch(() => undefined);
  if (present) return tag;
  const busybox = await readFile(BUSYBOX).catch(() => {
    throw new Error(`test images need ${BUSYBOX}, which is not installed (Debian: apt-get install busybox-static)`);
  });
  const archive = pack();
  for (const folder of ['bin/', 'tmp/', 'etc/', 'www/'])
    archive.entry({ name: folder, type: 'directory', mode: 0o1777 });
  archive.entry({ name: 'bin/busybox', mode: 0o755 }, busybox);
  for (const applet of applets) archive.entry({ name: `bin/${applet}`, type: 'symlink', linkname: 'busybox' });
  archive.entry({ name: 'etc/passwd' }, 'root:x:0:0:root:/:/bin/sh\nguest:x:1000:1000:guest:/:/bin/sh\n');
  archive.finalize();
  const [repo, name] = [tag.slice(0, tag.lastIndexOf(':')), tag.slice(tag.lastIndexOf(':') + 1)];
  // Its type has overloads that an implementation cannot have, and describes an older interface of node's streams.
  const importImage = docker.importImage.bind(docker) as unknown as (
    file: AsyncIterable<unknown>,
    options: object,
  ) => Promise<NodeJS.ReadableStream>;
  const stream = await importImage(archive, {
    repo,
    tag: name,
    changes: ['CMD ["sleep", "3600"]', 'ENV PATH=/bin'],
  });
  await untilEnd(docker, stream);
  return tag;
}

/** Rejects if the stream of an engine ends with an error, or tells one. */
async function untilEnd(docker: Docker, stream: NodeJS.ReadableStream): Promise<void> {
  await new Promise((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (failure: Error | null) => (failure ? reject(failure) : resolve(undefined)),
      ({ error }: { error?: string }) => error !== undefined && reject(new Error(error)),
    );
  });
}

/** A test image with these programs only. Its name tells which, because an image that exists is not built again. */
export const testImageOf = (applets: string[], docker?: Docker) =>
  testImage(`terrarium-test/with-${applets.join('-') || 'nothing'}:1`, docker, applets);

/** An image made from the test image with changes in the words of a Dockerfile, such as `ENTRYPOINT ["/bin/echo"]`. */
export async function testImageWith(tag: string, changes: readonly string[], docker = new Docker()): Promise<string> {
  const Image = await testImage(IMAGE, docker);
  const container = await docker.createContainer({ Image });
  try {
    const [repo, name] = [tag.slice(0, tag.lastIndexOf(':')), tag.slice(tag.lastIndexOf(':') + 1)];
    await container.commit({ repo, tag: name, changes });
  } finally {
    await container.remove();
  }
  return tag;
}

/** An image for another processor, whose program no engine can run. */
export async function testImageFor(architecture: string, docker = new Docker()): Promise<string> {
  const tag = `terrarium-test/for-${architecture}:1`;
  const layer = pack();
  // With the same time, so that the same image comes from each run.
  layer.entry({ name: 'program', mode: 0o755, mtime: new Date(0) }, 'not a program of this processor');
  layer.finalize();
  const layerBytes = await buffer(layer as AsyncIterable<Buffer>); // its type leaves it unknown
  const archive = pack();
  const digest = createHash('sha256').update(layerBytes).digest('hex');
  const rootfs = { type: 'layers', diff_ids: [`sha256:${digest}`] };
  const config = { architecture, os: 'linux', config: { Cmd: ['/program'] }, rootfs };
  archive.entry({ name: 'layer.tar' }, layerBytes);
  archive.entry({ name: 'config.json' }, JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: ['layer.tar'] }];
  archive.entry({ name: 'manifest.json' }, JSON.stringify(manifest));
  archive.finalize();
  const loaded = await docker.loadImage(archive as unknown as NodeJS.ReadableStream); // its types describe an older interface
  await untilEnd(docker, loaded);
  return tag;
}

/** A separate world for a test. */
export const newWorldId = (): string => randomUUID();

/**
 * Resolves to the containers, networks and volumes of a world that an engine still contains, such as `network NAME`.
 */
export async function leftoversOf(worldId: string, docker = new Docker()): Promise<string[]> {
  const filters = ownedBy(worldId);
  const containers = await docker.listContainers({ all: true, filters });
  const networks = await docker.listNetworks({ filters });
  const { Volumes: volumes } = await docker.listVolumes({ filters });
  return [
    ...containers.map((container) => `container ${container.Names.join()}`),
    ...networks.map((network) => `network ${network.Name}`),
    ...(volumes ?? []).map((volume) => `volume ${volume.Name}`),
  ];
}

/** Throws if the engine still contains anything of a world, except what it refuses to remove although nothing uses it. */
export async function expectNoLeftovers(worldId: string, docker = new Docker()): Promise<void> {
  const leftovers = await leftoversOf(worldId, docker);
  if (leftovers.length === 0) return;
  const connection = connectForTests();
  const networks = await docker.listNetworks({ filters: ownedBy(worldId) });
  for (const { Id: id, Name: name } of networks) {
    const isLocked = (await removeNetwork(connection, id)) === 'locked';
    if (isLocked) leftovers.splice(leftovers.indexOf(`network ${name}`), 1);
  }
  connection.close();
  if (leftovers.length > 0) throw new Error(`left in the engine: ${leftovers.join(', ')}`);
}
