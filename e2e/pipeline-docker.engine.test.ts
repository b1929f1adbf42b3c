import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';

const CLIENT = 'terrarium-test/pipeline-docker:1';

let harness: PipelineBench;
let foreign: string;
const run = promisify(execFile);
const docker = async (...args: string[]) => (await run('docker', args)).stdout.trim();

/** An image with the docker command of this machine. */
async function clientImage(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium docker '));
  const program = (await run('sh', ['-c', 'readlink -f "$(command -v docker)"'])).stdout.trim();
  const { stdout = '' } = await run('ldd', [program]).catch(() => ({ stdout: '' }));
  const libraries = Array.from(stdout.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => path);
  const files = [...libraries.map((path) => [path, path]), [program, '/bin/docker'], ['/bin/busybox', '/bin/busybox']];
  for (const [from = '', to = ''] of files) {
    await mkdir(dirname(join(folder, to)), { recursive: true });
    await cp(from, join(folder, to), { dereference: true });
  }
  for (const name of ['sh', 'cat', 'echo', 'grep', 'test', 'mkdir', 'ls'])
    await symlink('busybox', join(folder, 'bin', name));
  await mkdir(join(folder, 'tmp'));
  await run('sh', ['-c', `tar -C "$0" -c . | docker import --change "ENV PATH=/bin" - ${CLIENT}`, folder]);
  await rm(folder, { recursive: true, force: true });
}

beforeAll(async () => {
  await requireEngine();
  await testImage();
  await clientImage();
  await buildCommand();
  harness = await PipelineBench.make(
    {},
    { Dockerfile: 'FROM terrarium-test/busybox:1\nCMD ["echo", "built in a job"]\n' },
  );
  foreign = await docker(
    'run',
    '--detach',
    '--name',
    `terrarium-foreign-${process.pid}`,
    'terrarium-test/busybox:1',
    'sleep',
    '600',
  );
});
afterAll(async () => {
  await docker('rm', '--force', foreign);
  await harness?.close();
  await docker('image', 'rm', '--force', CLIENT).catch(() => undefined);
});

it('a definition with docker:dind builds, pushes and runs an image, and sees and reaches nothing else', async () => {
  await harness.commit({
    '.gitlab-ci.yml': `build:
  image: ${CLIENT}
  services: [docker:24-dind]
  variables: {DOCKER_HOST: "tcp://docker:2376", DOCKER_TLS_CERTDIR: /certs, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: /certs/client, IMAGE: "$CI_REGISTRY_IMAGE/web:1"}
  script:
    - docker login -u "$CI_REGISTRY_USER" -p "$CI_REGISTRY_PASSWORD" "$CI_REGISTRY"
    - docker build -t "$IMAGE" .
    - docker push "$IMAGE"
    - docker run --rm "$IMAGE"
    - docker images --format 'image {{.Repository}}'
    - docker ps --all --format 'container {{.Image}}'
    - if docker stop ${foreign}; then exit 11; fi
    - if docker exec ${foreign} true; then exit 12; fi
    - if docker run --privileged "$IMAGE"; then exit 13; fi
    - if docker run -v /:/host "$IMAGE"; then exit 14; fi
    - if docker run --network host "$IMAGE"; then exit 15; fi
    - if docker run -p 8080:80 "$IMAGE"; then exit 17; fi
    - if docker run --security-opt seccomp=unconfined "$IMAGE"; then exit 18; fi
    - if docker volume ls; then exit 16; fi
    - if docker container prune --force; then exit 19; fi
    - docker run --detach --name web "$IMAGE" sleep 60
    - docker exec web echo "executed in a container"
    - docker cp web:/etc/passwd copied && cat copied
    - docker logs web && docker inspect --format '{{.State.Running}}' web
    - docker stop --time 0 web && docker rm web
    - docker tag "$IMAGE" app:test && docker build --quiet -t app:test . && docker save app:test >saved-app.tar && test -s saved-app.tar
    - docker rmi terrarium-test/busybox:1
    - docker pull terrarium-test/busybox:1
    - if docker tag "$IMAGE" terrarium-test/busybox:1; then exit 20; fi
    - if docker tag terrarium-test/busybox:1 own:1; then exit 21; fi
    - if docker build -t terrarium-test/busybox:1 .; then exit 22; fi
    - if docker save terrarium-test/busybox:1 >saved.tar; then exit 23; fi
    - docker rmi app:test && docker load --input saved-app.tar && docker run --rm app:test
    - docker rmi app:test "$IMAGE"
`,
  });
  const baseId = await docker('image', 'inspect', '--format', '{{.Id}}', 'terrarium-test/busybox:1');
  const { exitCode, out, err } = await harness.run();
  expect(exitCode, `${out}${err}`).toBe(0);
  expect(out).toMatch(
    /uses the Docker engine of this machine in place of the service docker:24-dind, which needs privileges/,
  );
  expect(out).toMatch(/> built in a job$/m);
  expect(out).toMatch(/> 1: digest: sha256:/);
  const images = Array.from(out.matchAll(/> image (\S+)$/gm), ([, name]) => name);
  expect(images).toEqual([expect.stringMatching(/fern-moss\/app\/web$/)]);
  expect(Array.from(out.matchAll(/> container (\S+)$/gm), ([, name]) => name)).toEqual([CLIENT]);
  expect(out).toContain("containers of jobs cannot have 'Privileged'");
  expect(out).toContain("containers of jobs cannot have 'Binds'");
  expect(out).toContain("containers of jobs cannot have 'NetworkMode'");
  expect(out).toContain("containers of jobs cannot have 'PortBindings'");
  expect(out).toContain("containers of jobs cannot have 'SecurityOpt'");
  expect(out).toContain(`this run has no container ${foreign}`);
  expect(out).toContain("jobs cannot use 'GET /volumes'");
  expect(out).toContain("jobs cannot use 'POST /containers/prune'");
  expect(out).toContain('> executed in a container');
  expect(out).toContain("this run did not make the image 'terrarium-test/busybox:1'");
  expect(await docker('inspect', '--format', '{{.State.Running}}', foreign)).toBe('true');
  expect(await docker('image', 'inspect', '--format', '{{.Id}}', 'terrarium-test/busybox:1')).toBe(baseId);

  // Containers of the platform can use the pushed image, too.
  const [pushed = ''] = /[\w.:]+\/fern-moss\/app\/web:1/.exec(out) ?? [];
  expect(await docker('run', '--rm', pushed)).toBe('built in a job');
  await docker('image', 'rm', '--force', pushed);
});
