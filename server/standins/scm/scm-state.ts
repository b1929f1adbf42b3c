/** A person as the source-control server shows one. */
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
  /** For branches that are protected only. */
  protected: boolean;
  /** Never to be seen in a job's log. */
  masked: boolean;
  /** Are `$` in its value just that? Absent where earlier versions have kept it: no. */
  raw?: boolean;
  /** Name of the environments that it is for; `*` stands for anything. */
  environment_scope: string;
  description?: string | null;
}

/** One project with all that it holds: what is kept under its id. */
export interface ScmProject {
  id: number;
  name: string;
  path: string;
  /** Group path, e.g. `fern-moss`. */
  namespace: string;
  description: string | null;
  default_branch: string;
  created_at: string;
  merge_requests: ScmMergeRequest[];
  environments: ScmEnvironment[];
  statuses: ScmCommitStatus[];
  variables: ScmVariable[];
}

/** The account whose token integrations use. */
export const SCM_USER: ScmUser = { id: 1, username: 'terrarium', name: 'Terrarium' };

/** `fern-moss/shop` */
export const pathWithNamespace = ({ namespace, path }: Pick<ScmProject, 'namespace' | 'path'>) =>
  `${namespace}/${path}`;

/** A name as it stands in addresses. */
export function slugOf(name: string): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return slug.replace(/^-+|-+$/g, '');
}
