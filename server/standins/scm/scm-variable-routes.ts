import express, { type Request, type Response, type Router } from 'express';
import { invalidValue, missing, notFound, ScmError } from './scm-error.ts';
import type { ScmProjects } from './scm-projects.ts';
import { flag, optional, queryText, text } from './scm-request.ts';
import type { ScmProject, ScmVariable } from './scm-state.ts';
import { newVariable, offenceOf } from './scm-variables.ts';

export interface ScmVariableRoutesOptions {
  projects: Pick<ScmProjects, 'save'>;
  /** The project that the path names. Throws 404. */
  projectOf(req: Request): ScmProject;
  list<T>(req: Request, res: Response, all: readonly T[], shown: (one: T) => object): void;
}

/** Variables that a project's pipelines get; several of one key are told apart by the environments that they are for. */
export function scmVariableRoutes({ projects, projectOf, list }: ScmVariableRoutesOptions): Router {
  const router = express.Router({ caseSensitive: true });
  const path = '/projects/:project/variables';

  router.get(path, (req, res) => list(req, res, projectOf(req).variables, shown));
  router.post(path, async (req, res) => {
    const project = projectOf(req);
    const [key, value] = [text(req, 'key'), text(req, 'value')];
    if (!key || value === undefined) throw missing(...['key', 'value'].filter((name) => text(req, name) === undefined));
    const created = sentFor(req, newVariable(key, value));
    if (project.variables.some((one) => isSame(one, created))) {
      throw new ScmError(400, { message: { key: [`(${key}) has already been taken`] } });
    }
    await projects.save({ ...project, variables: [...project.variables, created] });
    res.status(201).json(shown(created));
  });
  router.get(`${path}/:key`, (req, res) => void res.json(shown(variableOf(projectOf(req), req))));
  router.put(`${path}/:key`, async (req, res) => {
    const project = projectOf(req);
    const before = variableOf(project, req);
    const changed = sentFor(req, before);
    if (project.variables.some((one) => one !== before && isSame(one, changed))) {
      throw new ScmError(400, { message: { key: [`(${changed.key}) has already been taken`] } });
    }
    const variables = project.variables.map((one) => (one === before ? changed : one));
    await projects.save({ ...project, variables });
    res.json(shown(changed));
  });
  router.delete(`${path}/:key`, async (req, res) => {
    const project = projectOf(req);
    const found = variableOf(project, req);
    await projects.save({ ...project, variables: project.variables.filter((one) => one !== found) });
    res.status(204).end();
  });
  return router;
}

/** The variable with what was sent of it. Throws 400. */
function sentFor(req: Request, variable: ScmVariable): ScmVariable {
  const type = text(req, 'variable_type') ?? variable.variable_type;
  if (type !== 'env_var' && type !== 'file') throw invalidValue('variable_type');
  const sent: ScmVariable = {
    ...variable,
    ...optional(req, 'value'),
    variable_type: type,
    protected: flag(req, 'protected') ?? variable.protected,
    // What is to be hidden in logs and from readers is hidden in logs at least.
    masked: flag(req, 'masked_and_hidden') ?? flag(req, 'masked') ?? variable.masked,
    raw: flag(req, 'raw') ?? variable.raw ?? false,
    ...optional(req, 'environment_scope'),
    ...optional(req, 'description'),
  };
  const offence = offenceOf(sent);
  if (offence) throw new ScmError(400, { message: { [offence.member]: [offence.reason] } });
  return sent;
}

/** By key, and by `filter[environment_scope]` where one key has several. Throws 404 and 409. */
function variableOf(project: ScmProject, req: Request): ScmVariable {
  const scope = queryText(req, 'filter[environment_scope]') ?? Object(Object(req.body).filter).environment_scope;
  const [found, ...more] = project.variables.filter(
    (one) => one.key === req.params.key && (scope === undefined || one.environment_scope === scope),
  );
  if (!found) throw notFound('Variable');
  if (more.length > 0) {
    const message = "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";
    throw new ScmError(409, { message });
  }
  return found;
}

const isSame = (one: ScmVariable, other: ScmVariable) =>
  one.key === other.key && one.environment_scope === other.environment_scope;

/** Those that earlier versions have kept lack what the real server shows of each. */
const shown = (variable: ScmVariable) => ({ ...newVariable(variable.key, variable.value), ...variable, hidden: false });
