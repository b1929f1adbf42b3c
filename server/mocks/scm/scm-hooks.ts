import { randomUUID } from 'node:crypto';
import { requestText, within } from '../../api/client/send-request.ts';
import { reasonOf } from '../../model/errors.ts';
import type { ListedRun } from './scm-pipelines.ts';
import {
  SCM_USER,
  type ScmHook,
  type ScmHookEvent,
  type ScmMergeRequest,
  type ScmNote,
  type ScmProject,
} from './scm-state.ts';
import type { ScmViews } from './scm-views.ts';

const TIMEOUT_MS = 10_000;
/** Deliveries that are open at a time, against webhooks that never respond. */
const MAX_OPEN = 50;
const KEPT_DELIVERIES = 20;
const KEPT_RESPONSE_CHARACTERS = 1_000;
const TITLES: Readonly<Record<ScmHookEvent, string>> = {
  push: 'Push Hook',
  tag_push: 'Tag Push Hook',
  merge_requests: 'Merge Request Hook',
  note: 'Note Hook',
  pipeline: 'Pipeline Hook',
  job: 'Job Hook',
  deployment: 'Deployment Hook',
};

export type MergeRequestAction = 'open' | 'close' | 'reopen' | 'merge' | 'update';

/** Sends the events of projects to their webhooks. No caller waits for a delivery. */
export class ScmHooks {
  /** As the API shows them, by project and webhook. */
  readonly #deliveries = new Map<string, object[]>();
  readonly #stopped = new AbortController();
  readonly #views: ScmViews;
  /** The last reported state of each running pipeline and its jobs. */
  readonly #reported = new Map<string, string>();
  #openCount = 0;
  #lastId = 0;

  constructor(views: ScmViews) {
    this.#views = views;
  }

  /** Sends an event to all webhooks of the project that asked for it. */
  send(project: ScmProject, event: ScmHookEvent, body: object): void {
    const payload = { ...body, project: this.#views.inHook(project) };
    for (const hook of project.hooks ?? [])
      if (hook.events.includes(event)) void this.#deliver(project, hook, event, payload);
  }

  /** @param note set if the change is a new note */
  mergeRequestChanged(
    project: ScmProject,
    mergeRequest: ScmMergeRequest,
    action: MergeRequestAction,
    note?: ScmNote,
  ): void {
    const user = SCM_USER;
    const merge_request = this.#views.mergeRequest(project, mergeRequest);
    if (note) {
      const object_attributes = this.#views.note(project, mergeRequest, note);
      this.send(project, 'note', { object_kind: 'note', user, object_attributes, merge_request });
    } else {
      const object_attributes = { ...merge_request, url: merge_request.web_url, action };
      this.send(project, 'merge_requests', { object_kind: 'merge_request', user, object_attributes });
    }
  }

  runChanged(project: ScmProject, run: ListedRun): void {
    const user = SCM_USER;
    const isNew = (key: string, state: string) => {
      if (this.#reported.get(key) === state) return false;
      this.#reported.set(key, state);
      return true;
    };
    const pipeline = this.#views.pipeline(run);
    const builds = run.jobs.map((job) => this.#views.job(run, job));
    if (isNew(run.id, run.state)) {
      const object_attributes = { ...pipeline, url: pipeline.web_url };
      this.send(project, 'pipeline', { object_kind: 'pipeline', object_attributes, user, builds });
    }
    for (const { id, name, stage, status, duration } of builds) {
      if (!isNew(`${run.id} ${id}`, status)) continue;
      this.send(project, 'job', {
        object_kind: 'build',
        build_id: id,
        build_name: name,
        build_stage: stage,
        build_status: status,
        build_duration: duration,
        pipeline_id: pipeline.id,
        ref: run.branch,
        sha: run.sha,
        user,
      });
    }
    if (run.state !== 'running')
      for (const key of this.#reported.keys()) if (key.startsWith(run.id)) this.#reported.delete(key);
  }

  /** The newest first. */
  deliveries({ id }: ScmProject, hook: ScmHook): readonly object[] {
    return this.#deliveries.get(`${id} ${hook.id}`) ?? [];
  }

  async #deliver(project: ScmProject, hook: ScmHook, event: ScmHookEvent, body: object): Promise<void> {
    const startedAtMs = performance.now();
    const result = await this.#post(hook, event, body);
    const delivery = {
      id: ++this.#lastId,
      url: hook.url,
      trigger: event,
      request_data: body,
      ...result,
      execution_duration: (performance.now() - startedAtMs) / 1_000,
    };
    const newest = [delivery, ...this.deliveries(project, hook)].slice(0, KEPT_DELIVERIES);
    this.#deliveries.set(`${project.id} ${hook.id}`, newest);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #post({ url, token }: ScmHook, event: ScmHookEvent, body: object) {
    const failed = (response_body: string) => ({ response_status: 'internal error', response_body });
    if (this.#openCount >= MAX_OPEN) return failed(`not sent: ${MAX_OPEN} deliveries wait for a response`);
    this.#openCount += 1;
    try {
      const { status, text } = await requestText(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': 'GitLab/17.11.0',
          'X-Gitlab-Event': TITLES[event],
          'X-Gitlab-Event-UUID': randomUUID(),
          'X-Gitlab-Instance': this.#views.baseUrl(),
          ...(token !== null && { 'X-Gitlab-Token': token }),
        },
        body: JSON.stringify(body),
        signal: this.#stopped.signal,
        limits: { ...within(TIMEOUT_MS), bytes: 1_000_000 },
      });
      return { response_status: String(status), response_body: text.slice(0, KEPT_RESPONSE_CHARACTERS) };
    } catch (failure) {
      return failed(reasonOf(failure));
    } finally {
      this.#openCount -= 1;
    }
  }
}
