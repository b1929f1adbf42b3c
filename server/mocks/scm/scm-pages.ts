import { pathWithNamespace, type ScmMergeRequest, type ScmProject } from './scm-state.ts';

/** The pages contain no scripts, load nothing and send nothing. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
} as const;

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}' +
  'article{border:1px solid #8885;border-radius:8px;padding:.7rem 1rem;margin:.8rem 0;white-space:pre-wrap}small{opacity:.7}';

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text in which http addresses are links. */
function linked(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>()"'`]+)/)
    .map((part, index) => (index % 2 === 1 ? `<a href="${escaped(part)}">${escaped(part)}</a>` : escaped(part)))
    .join('');
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style><main>${body}</main></html>`;
}

export function projectPage(project: ScmProject): string {
  const full = pathWithNamespace(project);
  const requests = project.merge_requests.map(
    ({ iid, title, state }) =>
      `<li><a href="/${escaped(full)}/-/merge_requests/${iid}">!${iid} ${escaped(title)}</a> <small>${state}</small></li>`,
  );
  const environmentItems = project.environments.map(
    ({ name, state, external_url: url }) =>
      `<li>${escaped(name)} <small>${state}</small> ${url ? linked(url) : ''}</li>`,
  );
  const section = (title: string, items: string[]) =>
    `<h2>${title}</h2>${items.length > 0 ? `<ul>${items.join('')}</ul>` : '<p>None yet.</p>'}`;
  return page(
    full,
    `<h1>${escaped(full)}</h1>${section('Merge requests', requests)}${section('Environments', environmentItems)}`,
  );
}

export function mergeRequestPage(project: ScmProject, mergeRequest: ScmMergeRequest): string {
  const { iid, title, state, source_branch, target_branch, description, notes } = mergeRequest;
  const full = pathWithNamespace(project);
  const head = `<p><a href="/${escaped(full)}">${escaped(full)}</a></p><h1>!${iid} ${escaped(title)}</h1>`;
  const way = `<p><small>${state} · ${escaped(source_branch)} → ${escaped(target_branch)}</small></p>`;
  const noteItems = notes.map(
    ({ author, created_at, body }) =>
      `<article><small>${escaped(author.name)}, <time>${escaped(created_at)}</time></small>\n${linked(body)}</article>`,
  );
  return page(`!${iid} ${title}`, `${head}${way}<p>${linked(description)}</p>${noteItems.join('')}`);
}
