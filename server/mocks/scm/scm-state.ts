import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export interface ScmUser {
  id: number;
  username: string;
  name: string;
}

export interface ScmNote {
  id: number;
  body: string;
  author: ScmUser;
  created_at: string;
  updated_at: string;
}

export interface ScmMergeRequest {
  id: number;
  /** Number within the project. */
  iid: number;
  title: string;
  description: string;
  state: 'opened' | 'closed' | 'merged';
  source_branch: string;
  target_branch: string;
  sha: string | null;
  author: ScmUser;
  /** Absent: none. */
  labels?: string[];
  /** Remove the source branch when it is merged. */
  force_remove_source_branch?: boolean;
  created_at: string;
  updated_at: string;
  notes: ScmNote[];
}

export interface ScmEnvironment {
  id: number;
  name: string;
  slug: string;
  external_url: string | null;
  state: 'available' | 'stopped';
  created_at: string;
  updated_at: string;
}

export interface ScmCommitStatus {
  id: number;
  sha: string;
  ref: string | null;
  status: string;
  name: string;
  target_url: string | null;
  description: string | null;
  created_at: string;
}

export interface ScmVariable {
  key: string;
  value: string;
  variable_type: 'env_var' | 'file';
  /** Only for protected branches. */
  protected: boolean;
  /** Hidden in the logs of jobs. */
  masked: boolean;
  /** Is `$` in the value literal? Absent in projects of earlier versions: no. */
  raw?: boolean;
  /** Environment scope; `*` matches anything. */
  environment_scope: string;
  description?: string | null;
}

/**
 * A group, with variables for all projects below it. Every path above a project is a group; a record exists once one
 * has variables.
 */
export interface ScmGroup {
  /** With all groups above it, e.g. `fern-moss/web`. */
  path: string;
  variables: ScmVariable[];
}

export interface ScmDeployment {
  id: number;
  iid: number;
  ref: string;
  sha: string;
  tag: boolean;
  status: string;
  environment: string;
  created_at: string;
  updated_at: string;
}

export const HOOK_EVENTS = ['push', 'tag_push', 'merge_requests', 'note', 'pipeline', 'job', 'deployment'] as const;
export type ScmHookEvent = (typeof HOOK_EVENTS)[number];

export interface ScmHook {
  id: number;
  url: string;
  /** Sent as `X-Gitlab-Token`. */
  token: string | null;
  events: ScmHookEvent[];
  created_at: string;
}

export interface ScmAccessToken {
  id: number;
  name: string;
  hash: string;
  scopes: string[];
  access_level: number;
  created_at: string;
  expires_at: string | null;
  revoked: boolean;
}

export const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

export function isActive(
  { revoked, expires_at: expires }: Pick<ScmAccessToken, 'revoked' | 'expires_at'>,
  now: string,
): boolean {
  return !revoked && (expires === null || Date.parse(expires) > Date.parse(now));
}

export interface ScmLists {
  merge_requests: ScmMergeRequest[];
  environments: ScmEnvironment[];
  statuses: ScmCommitStatus[];
  // Absent in projects of earlier versions.
  deployments?: ScmDeployment[];
  hooks?: ScmHook[];
  access_tokens?: ScmAccessToken[];
}

/** One project with all its data: the record that is saved under its id. */
export interface ScmProject extends ScmLists {
  id: number;
  name: string;
  path: string;
  /** Group path, e.g. `fern-moss`. */
  namespace: string;
  description: string | null;
  default_branch: string;
  created_at: string;
  variables: ScmVariable[];
}

/** The account whose token integrations use. */
export const SCM_USER: ScmUser = { id: 1, username: 'terrarium', name: 'Terrarium' };

/** `fern-moss/shop` */
export const pathWithNamespace = ({ namespace, path }: Pick<ScmProject, 'namespace' | 'path'>) =>
  `${namespace}/${path}`;

/** `a/b/c` is in the groups `a`, `a/b` and `a/b/c`: outermost first. */
export const groupPathsOf = (namespace: string) =>
  namespace.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));

export const groupIdOf = (path: string) => crc32(path);

/** A name in the form used in addresses. */
export function slugOf(name: string): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return slug.replace(/^-+|-+$/g, '');
}
