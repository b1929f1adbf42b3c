import { readFileSync, statSync } from 'node:fs';

/** Why a socket that is there cannot be used by this account, and what opens it. */
export function closedSocketReason(path: string): string {
  const group = groupOf(path);
  const advice =
    group === undefined || group === 'root'
      ? "use this user's own engine (Podman: systemctl --user enable --now podman.socket)"
      : `join its group with \`sudo usermod -aG ${group} $USER\`, then sign in again`;
  return `the socket exists, and this user may not open it; ${advice}`;
}

/** The name of the group that a file belongs to; undefined where that cannot be told. */
function groupOf(path: string): string | undefined {
  try {
    const { gid } = statSync(path);
    const lines = readFileSync('/etc/group', 'utf8').split('\n');
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(gid))?.[0];
  } catch {
    return 'docker';
  }
}
