import { readFileSync, statSync } from 'node:fs';

export function closedSocketReason(path: string): string {
  const group = groupOf(path);
  const advice =
    group === undefined || group === 'root'
      ? "use this user's own engine (Podman: systemctl --user enable --now podman.socket)"
      : `join its group with \`sudo usermod -aG ${group} $USER\`, then sign in again`;
  return `the socket exists, but this user has no permission to open it; ${advice}`;
}

function groupOf(path: string): string | undefined {
  try {
    const { gid } = statSync(path);
    const lines = readFileSync('/etc/group', 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(gid))?.[0];
  } catch {
    return 'docker';
  }
}
