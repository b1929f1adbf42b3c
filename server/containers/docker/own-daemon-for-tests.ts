import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Docker from 'dockerode';

const START_LIMIT_MS = 60_000;

/** A Docker daemon of a test's own, to be stopped and started without anybody else's noticing. */
export interface OwnDaemon {
  /** `unix://...` */
  url: string;
  docker: Docker;
  start(): Promise<void>;
  /** Ends it, and with it what runs there. */
  stop(): Promise<void>;
  /** The same, and removes all that it kept. */
  remove(): Promise<void>;
}

/** Prepares such a daemon; it takes root. It shares no network, no image and no rule of the firewall with the machine's own. */
export async function makeOwnDaemon(): Promise<OwnDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'tdocker-'));
  const socketPath = join(folder, 'docker.sock');
  const docker = new Docker({ socketPath });
  let daemon: ChildProcess | undefined;
  const args = [
    ...['--host', `unix://${socketPath}`],
    ...['--data-root', join(folder, 'data')],
    ...['--exec-root', join(folder, 'exec')],
    ...['--pidfile', join(folder, 'docker.pid')],
    ...['--bridge', 'none'],
    '--iptables=false',
    '--ip6tables=false',
    ...['--default-address-pool', 'base=10.213.0.0/16,size=24'],
  ];
  const stop = async () => {
    const running = daemon;
    daemon = undefined;
    if (!running || running.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  };
  return {
    url: `unix://${socketPath}`,
    docker,
    async start() {
      const env = { ...process.env, PATH: [process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter) };
      const said: string[] = [];
      const child = spawn('dockerd', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      for (const output of [child.stdout, child.stderr]) output.on('data', (text) => said.push(String(text)));
      daemon = child;
      const untilMs = Date.now() + START_LIMIT_MS;
      while (!(await docker.ping().catch(() => undefined))) {
        if (child.exitCode !== null || Date.now() > untilMs) {
          throw new Error(`a Docker daemon of the test's own did not start: ${said.join('').slice(-2_000)}`);
        }
        await pause(100);
      }
    },
    stop,
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}
