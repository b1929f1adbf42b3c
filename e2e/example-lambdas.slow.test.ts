import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/checked-client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { createTenant, type Tenant } from '../server/testing/tenant.ts';

/*
 * Lambdas in common styles, for this platform and for others. Lambdas for this platform run unchanged. Of the others, those run that
 * the contract allows (D-135 to D-140); for the rest, a log line says what to change.
 */

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const FIELDS = `{ oid: process.env.CRM_OID, lead_source: 'Website', first_name: message.firstName, last_name: message.lastName, email: message.email }`;
const AT = "'https://' + process.env.CRM_API_BASEPATH + process.env.CRM_PATH";

/** Sends a contact form's fields to the CRM. */
const senders: Record<string, string> = {
  'https.request and querystring': `var https = require('https'), querystring = require('querystring');
    exports.run = function (event, context, callback) {
      var message = JSON.parse(event).payload, data = querystring.stringify(${FIELDS});
      var req = https.request({ host: process.env.CRM_API_BASEPATH, port: 443, path: process.env.CRM_PATH, method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': data.length } }, function (res) {
        res.setEncoding('utf8'); res.on('data', console.log); res.on('end', function () { callback(null, 'SUCCESS') }) });
      req.on('error', function (e) { callback(e.message, 'ERROR') });
      req.write(data); req.end();
    };`,
  'request and a callback': `const request = require('request');
    exports.run = (event, context, callback) => { const message = JSON.parse(event).payload;
      request.post({ url: ${AT}, form: ${FIELDS} }, (error, response) => callback(error, error ? 'ERROR' : 'SUCCESS')) };`,
  'request, as the value of an arrow function': `const request = require('request');
    exports.run = (event, context, callback) => request.post(${AT}, (error) => callback(error, 'SUCCESS')).form((({ payload: message }) => (${FIELDS}))(JSON.parse(event)));`,
  'axios and async': `const axios = require('axios');
    exports.run = async (event) => { const { payload: message } = JSON.parse(event);
      await axios.post(${AT}, new URLSearchParams(${FIELDS})); return 'SUCCESS' };`,
  'axios and then, called back': `const axios = require('axios');
    exports.run = (event, context, callback) => { const { payload: message } = JSON.parse(event);
      axios.post(${AT}, new URLSearchParams(${FIELDS})).then(() => callback(null, 'SUCCESS')).catch((error) => callback(error.message, 'ERROR')) };`,
  'got, of an ES module': `import got from 'got';
    export const run = async (event) => { const { payload: message } = JSON.parse(event);
      await got.post(${AT}, { form: ${FIELDS} }); return 'SUCCESS' };`,
  'async that calls back': `exports.run = async (event, context, callback) => { const { payload: message } = JSON.parse(event);
      try { await fetch(${AT}, { method: 'POST', body: new URLSearchParams(${FIELDS}) }); callback(null, 'SUCCESS') } catch (error) { callback(error) } };`,
};

let platform: Platform;
let acme: Tenant;
let make: ResourceFactory;
const reported: { type: string | undefined; body: string }[] = [];
/** A chat's webhook. */
const hook = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  reported.push({ type: request.headers['content-type'], body });
  response.end('ok');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  // The modules that they require.
  platform = await startPlatform({ lambdas: { modules: fileURLToPath(new URL('..', import.meta.url)) } });
  make = resourceFactoryFor(platform.root);
  acme = await createTenant(platform.root, 'acme');
});
afterAll(async () => {
  hook.close();
  hook.closeAllConnections();
  await platform?.stop();
});

async function publish(code: string, properties: object = {}, endpointProperties: object = {}) {
  // A listening TCP server has such an address.
  const HOOK = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/services/T0`;
  const env = {
    CRM_API_BASEPATH: 'crm.example.com',
    CRM_PATH: '/servlet/servlet.WebToLead',
    CRM_OID: '00D1',
    HOOK,
  };
  const lambda = await make.lambda(acme, { code, env, timeout: 20, ...properties });
  const endpoint = await make.endpoint(await make.api(acme), lambda, endpointProperties);
  const url: string = endpoint.properties.public_url;
  return {
    call: (options?: Parameters<typeof send>[2], method = 'POST', rest = '') => send(method, url + rest, options),
    log: async (): Promise<string> => {
      const at = `${platform.emulator.baseUrl}/log/lambda/${lambda.id}`;
      return (await send('GET', at, { auth: rootPairOf(platform) })).body.join('\n');
    },
  };
}

describe('a contact form that becomes a lead, by', () => {
  it.each(Object.entries(senders))('%s', async (style, code) => {
    const { call } = await publish(code);
    const payload = { firstName: 'Ada', lastName: style, email: `${make.fresh('ada')}@example.com` };
    expect(await call({ body: { payload } })).toMatchObject({ status: 200, body: 'SUCCESS' });
    const { body: leads } = await platform.root.send('GET', '/../inspect/leads');
    const mapped = { leadSource: 'Website', firstName: 'Ada', lastName: style, email: payload.email };
    const matchingLeads = leads.filter((lead: { mapped: { email?: string } }) => lead.mapped.email === payload.email);
    expect(matchingLeads).toMatchObject([{ oid: '00D1', mapped }]);
  });
});

it('a form is sent to a chat by its webhook', async () => {
  const { call } = await publish(
    `const https = require('http'), { parse } = require('querystring');
    module.exports.handler = (event, context, callback) => {
      const { name, message } = parse(event), payload = JSON.stringify({ text: name + ': ' + message });
      const req = https.request(process.env.HOOK, { method: 'POST', headers: { 'Content-Type': 'application/json' } }, (res) => {
        res.resume().on('end', () => callback(null, { statusCode: 302, headers: { Location: '/thanks' } })) });
      req.on('error', callback).end(payload);
    };`,
    { handler: 'handler' },
    { is_http_aware: true },
  );
  const { status, headers } = await call({ body: 'name=Ada&message=Hello+there', headers: FORM });
  expect([status, headers.get('location')]).toEqual([302, '/thanks']);
  expect(reported).toEqual([{ type: 'application/json', body: '{"text":"Ada: Hello there"}' }]);
});

describe('a function of an HTTP proxy (Netlify, AWS)', () => {
  const ANSWER = `{ statusCode: 201, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ hello: 'Ada' }) }`;
  it.each([
    ['async', `exports.handler = async (event, context) => (${ANSWER})`],
    ['called back', `exports.handler = (event, context, callback) => callback(null, ${ANSWER})`],
    [
      'called back by an async one',
      `exports.handler = async function (event, context, callback) { callback(null, ${ANSWER}) }`,
    ],
    ['of an ES module', `export const handler = async (event) => (${ANSWER})`],
    [
      'of TypeScript',
      `interface Answer { statusCode: number } export const handler = async (event: string): Promise<Answer> => (${ANSWER})`,
    ],
  ])('answers by its result: %s', async (_style, code) => {
    const { call } = await publish(code, { handler: 'handler' }, { is_http_aware: true });
    expect(await call()).toMatchObject({ status: 201, body: { hello: 'Ada' } });
  });

  it('is answered as JSON where the endpoint is not http-aware, and the log says what to set, once', async () => {
    const { call, log } = await publish(`exports.handler = async () => (${ANSWER})`, { handler: 'handler' });
    expect(await call()).toMatchObject({ status: 200, body: { statusCode: 201 } });
    await call();
    expect((await log()).match(/set is_http_aware on the endpoint/g)).toHaveLength(1);
  });

  it.each([
    ['multiValueHeaders', `async () => ({ statusCode: '200', multiValueHeaders: { 'X-A': ['1', '2'] }, body: 'x' })`],
    ['a body of bytes', `async () => ({ status: 200, body: Buffer.from('x') })`],
  ])('answers with %s', async (_what, code) => {
    const { call } = await publish(`exports.run = ${code}`, {}, { is_http_aware: true });
    expect(await call()).toMatchObject({ status: 200, body: 'x' });
  });

  it('is answered as JSON when its status is none, and the log says so', async () => {
    const code = `exports.run = async () => ({ statusCode: '20x', body: 'x' })`;
    const { call, log } = await publish(code, {}, { is_http_aware: true });
    expect(await call()).toMatchObject({ status: 200, body: { statusCode: '20x' } });
    expect(await log()).toContain(`the result has 'statusCode' "20x", which is not a status from 200 to 599`);
  });

  it('finds the body in event, not in event.body; the log says so, and three lines make it run', async () => {
    const code =
      'exports.handler = async (event) => ({ statusCode: 200, body: "Hello " + JSON.parse(event.body).name + event.queryStringParameters.mark })';
    const { call, log } = await publish(code, { handler: 'handler' }, { is_http_aware: true });
    expect((await call({ body: { name: 'Ada' } })).status).toBe(500);
    expect(await log()).toContain('event is the request body, as a string: JSON.parse(event), not event.body');
    const adapted = `${code};
      const single = (params) => Object.fromEntries(Object.entries(params).map(([name, values]) => [name, values.at(-1)]));
      exports.run = (event, context) => { const { method, path, params, headers } = JSON.parse(context);
        return exports.handler({ body: event, httpMethod: method, path, headers, queryStringParameters: single(params) }) }`;
    const { call: callAdapted } = await publish(adapted, {}, { is_http_aware: true });
    expect(await callAdapted({ body: { name: 'Ada' } }, 'POST', '?mark=!')).toMatchObject({
      status: 200,
      body: 'Hello Ada!',
    });
  });
});

describe('a handler that is called otherwise elsewhere says so in its log', () => {
  it.each([
    ['request and response (Google, Express)', 'exports.run = (req, res) => { res.status(200).send("hello") }'],
    ['a context that is called (old AWS)', 'exports.run = (event, context) => { context.succeed("hello") }'],
    ['a context that is called, old', 'exports.run = function (event, context) { context.done(null, "hello") }'],
  ])('%s', async (_style, code) => {
    const { call, log } = await publish(code);
    expect(await call()).toMatchObject({
      status: 500,
      body: { message: expect.stringMatching(/ is not a function$/) },
    });
    expect(await log()).toContain('a handler is called as (event, context, callback)');
  });

  it('(context, event, callback) of Twilio runs when it is handed on in that order', async () => {
    const code = `exports.handler = function (context, event, callback) { callback(null, { greeting: context.GREETING + ' ' + event.From }) };
      exports.run = (event, context, callback) => exports.handler(process.env, Object.fromEntries(new URLSearchParams(event)), callback)`;
    const { call } = await publish(code, { env: { GREETING: 'Hello' } });
    expect((await call({ body: 'From=%2B15551234', headers: FORM })).body).toEqual({ greeting: 'Hello +15551234' });
    // Without the adapter, its parameters are in another order, and the libraries that are global there are missing.
    const { call: callAsIs } = await publish(
      'exports.run = (context, event, callback) => callback(null, new Twilio.twiml.VoiceResponse())',
    );
    expect((await callAsIs()).body).toMatchObject({ code: 500, message: 'Twilio is not defined' });
  });
});
