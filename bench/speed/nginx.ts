import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pack } from 'tar-stream';

const NGINX = '/usr/sbin/nginx';
const BUSYBOX = '/bin/busybox';
/** Answers at once, in a container. */
const ANSWERING = `
worker_processes 1;
error_log /dev/null;
pid /tmp/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path /tmp/body; proxy_temp_path /tmp/proxy; fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi; scgi_temp_path /tmp/scgi;
  keepalive_requests 1000000;
  server { listen 8080; location / { return 200 'hello\\n'; } }
}
`;
export const SERVE_NGINX = 'exec /usr/sbin/nginx -c /etc/nginx.conf -g "daemon off;"';

const run = promisify(execFile);

/** Is there an nginx on this machine? It is no dependency: Debian has it as nginx-light. */
export const hasNginx = (): boolean => existsSync(NGINX) && existsSync(BUSYBOX);

/** Makes an image of this machine's nginx, its libraries and a shell; no registry is needed. */
export async function importNginx(tag: string): Promise<void> {
  const { stdout } = await run('ldd', [NGINX]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? []);
  const archive = pack();
  archive.entry({ name: 'tmp/', type: 'directory', mode: 0o1777 });
  for (const path of [NGINX, BUSYBOX, ...new Set(libraries)])
    archive.entry({ name: path.slice(1), mode: 0o755 }, readFileSync(path));
  for (const name of ['bin/sh', 'bin/mkdir']) archive.entry({ name, type: 'symlink', linkname: '/bin/busybox' });
  archive.entry({ name: 'etc/passwd' }, 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n');
  archive.entry({ name: 'etc/group' }, 'root:x:0:\nnogroup:x:65534:\n');
  archive.entry({ name: 'var/log/nginx/', type: 'directory' });
  archive.entry({ name: 'etc/nginx.conf' }, ANSWERING);
  archive.finalize();
  const docker = spawn('docker', ['import', '-', tag], { stdio: ['pipe', 'ignore', 'inherit'] });
  archive.pipe(docker.stdin);
  const exitCode = await new Promise((resolve) => docker.once('exit', resolve));
  if (exitCode !== 0) throw new Error(`docker import ended with ${exitCode}`);
}

/** An nginx that does nothing but hand on to a port of the loopback address. */
export async function startProxy(folder: string, toPort: number): Promise<{ child: ChildProcess; port: number }> {
  const place = mkdtempSync(join(folder, 'nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${place}/${name};`,
  );
  writeFileSync(
    join(place, 'nginx.conf'),
    `worker_processes 1;
error_log /dev/null;
pid ${place}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  ${temporary.join(' ')}
  keepalive_requests 1000000;
  upstream there { server 127.0.0.1:${toPort}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://there; proxy_http_version 1.1; proxy_set_header Connection ''; }
  }
}
`,
  );
  const child = spawn(NGINX, ['-c', join(place, 'nginx.conf'), '-g', 'daemon off;'], { stdio: 'ignore' });
  const until = performance.now() + 5_000;
  while (performance.now() < until) {
    if ((await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))?.ok) return { child, port };
    await pause(20);
  }
  child.kill();
  throw new Error('nginx does not answer');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
