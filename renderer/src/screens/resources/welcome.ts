import { send } from '../../api/client.ts';
import { createPath } from '../../api/resource-kinds.ts';
import type { TreeNode } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** Who comes, and what they are given. */
export interface Welcome {
  /** Where they begin: an organization, which gets a workspace for them, or the place whose role they get. */
  at: TreeNode;
  name: string;
  password: string;
  /** Name of the workspace that is made for them; empty: none, the role is at the place itself. */
  workspace: string;
  role: string;
}

/** What is there already of a welcome that broke off: going on with it makes nothing twice. */
export interface Begun {
  user?: PlatformRecord;
  workspace?: PlatformRecord;
  environment?: PlatformRecord;
}

/** In a new workspace there is a place to begin in. */
const ENVIRONMENT = 'development';

/**
 * Makes an account, a workspace with an environment, and gives the role there: four requests of the API, each a commit.
 *
 * @param begun is filled as it goes
 * @throws FailureError of the first that is refused
 */
export async function welcome({ at, name, password, workspace, role }: Welcome, begun: Begun): Promise<void> {
  begun.user ??= await send<PlatformRecord>('POST', '/meta/root/users', {
    name,
    // At the root: everybody signs in there. The window of theirs begins where they work.
    properties: { password, platform_home: at.fqon },
  });
  if (workspace !== '') {
    const path = createPath(at, 'workspaces');
    begun.workspace ??= await send<PlatformRecord>('POST', `/meta${path}`, { name: workspace, properties: {} });
    const parent = { word: 'workspaces', id: begun.workspace.id, fqon: at.fqon } as const;
    begun.environment ??= await send<PlatformRecord>('POST', `/meta${createPath(parent, 'environments')}`, {
      name: ENVIRONMENT,
      properties: { environment_type: 'development' },
    });
  }
  await send('PUT', `/inspect/roles/${begun.workspace?.id ?? at.id}`, { identities: [begun.user.id], role });
}

/** A password that can be told over the telephone: three groups of four letters, 60 bits. */
export function makePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const text = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => letters[byte % 32]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}
