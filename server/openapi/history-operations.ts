import { SEES_ALL } from '../contract/right.ts';
import { created, gone, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

const history = rowsOf('History');
const snapshots = rowsOf('Snapshots');
const archive = { type: 'string', format: 'binary' };

/** Time travel: the history of the world, and what brings it back. */
export const historyOperations: readonly Operation[] = [
  history('get /inspect/history', 'listCommits', 'Every change of the world, newest first', {
    right: SEES_ALL,
    description:
      'Takes the right org.view on the root organization. A page may hold fewer commits than asked for, even none, and ' +
      'go on: it is the last one when it has no `next`. Passwords, values of secrets and credentials are `<hidden>`.',
    query: [
      'history_resource',
      'history_scope',
      'history_query',
      'history_type',
      'history_actor',
      'history_action',
      'history_via',
      'history_from',
      'history_to',
      'history_before',
      'history_limit',
      'brief',
    ],
    success: ok(ref('CommitPage')),
    errors: [400, 403, 503],
  }),
  history('get /inspect/history/{commit_seq}', 'readCommit', 'One change', {
    right: SEES_ALL,
    success: ok(ref('Commit')),
    errors: [400, 403, 404, 503],
  }),
  history('post /inspect/history/{commit_seq}/revert', 'revertCommit', 'Undo one change', {
    right: 'root',
    description:
      'For the root user. A new commit undoes it, so it can be undone itself. Where later commits have changed the same, or ' +
      'the result would be no valid world, it is refused, and `details` point at what is in the way.',
    success: ok(ref('MadeCommit')),
    errors: [400, 403, 404, 409, 503],
  }),
  history('get /inspect/world', 'readWorldAt', 'The world as it was at a moment', {
    right: SEES_ALL,
    description:
      'A moment is the number of a commit or an ISO time. With `resource` the stored record of that one. 404 says where the ' +
      'history begins when the moment is before that.',
    query: ['world_at', 'history_resource'],
    success: ok({ anyOf: [ref('WorldFile'), ref('StoredRecord')] }),
    errors: [400, 403, 404, 503],
  }),
  history('get /inspect/world/outline', 'outlineWorldAt', 'What there was at a moment, by path', {
    right: SEES_ALL,
    query: ['world_at', 'outline_query', 'outline_offset', 'outline_limit'],
    success: ok(ref('WorldOutline')),
    errors: [400, 403, 404, 503],
  }),
  history('get /inspect/diff', 'compareMoments', 'What leads from one moment to another', {
    right: SEES_ALL,
    description:
      'Of all resources, or of one. `brief` names the first thousand resources without operations; `total` counts all.',
    query: ['diff_from', 'diff_to', 'history_resource', 'brief'],
    success: ok(ref('WorldDifference')),
    errors: [400, 403, 404, 503],
  }),
  history('post /inspect/restore', 'restoreMoment', 'Bring the whole world back to a moment', {
    right: 'root',
    description: 'For the root user. One commit holds all that changes, so it can be undone by reverting that.',
    body: { schema: ref('RestoreWish') },
    success: ok(ref('MadeCommit'), 'The commit; none when the world is so already'),
    errors: [403, 404, 503],
  }),
  snapshots('get /inspect/snapshots', 'listSnapshots', 'Worlds kept under a name, oldest first', {
    right: SEES_ALL,
    success: ok(listOf(ref('Snapshot'))),
    errors: [403],
  }),
  snapshots('post /inspect/snapshots', 'createSnapshot', 'Keep the present world under a name', {
    right: 'root',
    description: 'For the root user. Lower-case letters, digits, dots, hyphens and underscores.',
    body: { schema: ref('SnapshotWish') },
    success: created(ref('Snapshot')),
    errors: [403, 409, 503],
  }),
  snapshots('get /inspect/snapshots/{snapshot_name}/diff', 'compareSnapshot', 'What leads from a snapshot to now', {
    right: SEES_ALL,
    query: ['history_resource', 'brief'],
    success: ok(ref('WorldDifference')),
    errors: [400, 403, 404, 503],
  }),
  snapshots('post /inspect/snapshots/{snapshot_name}/restore', 'restoreSnapshot', 'Bring the whole world back to it', {
    right: 'root',
    description: 'For the root user. One commit holds all that changes, so it can be undone by reverting that.',
    success: ok(ref('MadeCommit'), 'The commit; none when the world is so already'),
    errors: [400, 403, 404, 503],
  }),
  snapshots('delete /inspect/snapshots/{snapshot_name}', 'deleteSnapshot', 'Delete a snapshot', {
    right: 'root',
    success: gone,
    errors: [400, 403, 404],
  }),
  snapshots('get /inspect/archive', 'exportArchive', 'The whole instance as one file', {
    right: 'root',
    description:
      'For the root user. A zip of the world, its history, caught leads and asynchronous results, with a manifest of the ' +
      "SHA-256 of each. Nothing secret is in it: no keys, tokens or certificates, and `<hidden>` stands for passwords, values of secrets and providers' credentials.",
    success: { ...ok(archive), mediaTypes: ['application/zip'] },
    errors: [403, 503],
  }),
  snapshots('post /inspect/archive', 'importArchive', 'Make the world what an archive says', {
    right: 'root',
    description:
      'For the root user. One commit holds all that changes in the world, so it can be undone by reverting that; leads are ' +
      'added. The root organization and the root user keep their ids, keys and password. A damaged or foreign file is refused with the reason, ' +
      'and nothing is changed. With `dryRun` nothing is changed either: `resources` and `total` say what would be.',
    query: ['dry_run'],
    body: { schema: archive, mediaTypes: ['application/zip'] },
    success: ok(ref('ImportedArchive')),
    errors: [403, 503],
  }),
];
