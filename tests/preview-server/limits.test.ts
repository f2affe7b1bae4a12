/** What nobody can take from a server: its memory, its connections, its time. In this process. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { livePage } from '../../cli-js/src/host/serving/page.js';
import { serve } from '../../cli-js/src/host/serving/server.js';
import type { Limits, Page, Served } from '../../cli-js/src/host/serving/serving.js';
import { exchange, Follower, PAGE, until } from './support.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** The bytes in buffers that are held. */
function held(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

const servers = new Set<Served>();
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) await server.close();
  for (const all of [servers, sockets]) all.clear();
});

/** A server of facts that are counted. */
async function counting(padding = 0, limits: Partial<Limits> = {}) {
  const state = { count: 0 };
  const server = await serve({
    port: undefined,
    page: livePage(PAGE) as Page,
    limits,
    facts: async () => [
      Buffer.from(`{"count":${state.count},"padding":"`),
      Buffer.alloc(padding, 'x'),
      Buffer.from('"}'),
    ],
  });
  servers.add(server);
  return { server, state };
}

/** A connection that sends these lines and never reads. */
function silent({ port }: Served, ...lines: string[]): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause();
      socket.write(lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n\r\n`);
      resolve(socket);
    });
    sockets.add(socket);
    socket.on('error', reject);
    socket.on('error', () => {});
  });
}

const eventsOf = ({ port, url }: Served) => [
  `GET ${new URL(url).pathname}events HTTP/1.1`,
  `Host: 127.0.0.1:${port}`,
];

const countOf = (follower: Follower) => (follower.last as unknown as { count: number })?.count;

it('a page that does not read costs no memory, and later gets the present state alone', async () => {
  const size = 1 << 17;
  const { server, state } = await counting(size);
  const stuck = await Promise.all(
    Array.from({ length: 3 }, () => silent(server, ...eventsOf(server))),
  );
  const reader = await new Follower(server.url).begun();
  const before = held();
  let most = 0;
  for (state.count = 1; state.count < 1000; state.count += 1) {
    server.changed();
    await new Promise((resolve) => setImmediate(resolve));
    if (state.count % 50 === 0) {
      most = Math.max(most, held() - before);
    }
  }
  server.changed();
  await until(() => countOf(reader) === 1000, 'the last state');
  // A thousand frames for each of three would be 3,000 times the size; the reader's own are few.
  expect(most).toBeLessThan(500 * size);
  // It wakes up: what lay in the pipe, and then the present state.
  const [sleeper] = stuck;
  let text = '';
  sleeper?.on('data', (bytes: Buffer) => {
    text = (text + bytes.toString('latin1')).slice(-2 * size);
  });
  sleeper?.resume();
  await until(() => text.includes('{"count":1000,'), 'the present state');
});

it('a connection on which nothing moves is ended', async () => {
  const { server } = await counting(8 << 20, { idleMs: 500 });
  const stuck = await silent(server, ...eventsOf(server));
  const idle = await silent(server);
  const page = await silent(server, `GET /${'0'.repeat(40)}/ HTTP/1.1`, `Host: a`);
  const ended = new Set<Socket>();
  for (const socket of [stuck, idle, page]) socket.on('close', () => ended.add(socket));
  // The end of a stuck one can be seen once what lay in the pipe is read.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  for (const socket of [stuck, idle, page]) socket.resume();
  await until(() => ended.size === 3, 'the ends');
});

it('a request that does not arrive is given up', async () => {
  const { server } = await counting(0, { requestMs: 300 });
  const answer = await exchange(server.port, `GET / HTTP/1.1\r\nHost: a\r\nX: `, 10_000);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

it('signs of life are sent to those who follow', async () => {
  const { server } = await counting(0, { heartbeatMs: 50 });
  const follower = await new Follower(server.url).begun();
  await until(() => follower.beats > 3, 'signs of life');
  expect(follower.frames).toHaveLength(1);
});

it('more followers than there may be are told to come later', async () => {
  const { server } = await counting(0, { followers: 2 });
  const followers = [new Follower(server.url), new Follower(server.url)];
  for (const follower of followers) await follower.begun();
  const answer = await exchange(server.port, `${eventsOf(server).join('\r\n')}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/^Retry-After: \d+\r$/m);
});

it('more connections than there may be are not taken', async () => {
  const { server } = await counting(0, { connections: 3 });
  const held = await Promise.all(Array.from({ length: 3 }, () => silent(server)));
  expect(await exchange(server.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
  for (const socket of held) socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await exchange(server.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/ 421 /);
});

it('the end comes soon, whatever the others do', async () => {
  const { server } = await counting(8 << 20);
  const follower = await new Follower(server.url).begun();
  await silent(server, ...eventsOf(server));
  await silent(server);
  await silent(server, 'GET / HTTP/1.1');
  const start = performance.now();
  await server.close();
  servers.delete(server);
  expect(performance.now() - start).toBeLessThan(2000);
  await until(() => follower.isOver, 'the end');
  expect(follower.events).toEqual(['closed']);
  expect(await exchange(server.port, 'GET / HTTP/1.1\r\n\r\n')).toBe('');
});

it('an address that leads to the page once does so once', async () => {
  const { server } = await counting();
  const once = server.once();
  expect(new URL(once).pathname).toMatch(/^\/[\da-f]{40}$/);
  expect(once).not.toContain(new URL(server.url).pathname);
  const go = (url: string, method = 'GET') => fetch(url, { method, redirect: 'manual' });
  // A look by a program that shows links takes nothing away.
  expect((await go(once, 'HEAD')).status).toBe(303);
  const first = await go(once);
  expect([first.status, first.headers.get('location')]).toEqual([
    303,
    new URL(server.url).pathname,
  ]);
  expect((await go(once)).status).toBe(404);
});

it('tokens are long, and new each time', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => counting()));
  const tokens = new Set(all.map(({ server }) => new URL(server.url).pathname));
  expect(tokens.size).toBe(20);
  for (const token of tokens) expect(token).toMatch(/^\/[\da-f]{40}\/$/);
});

it.each([
  ['no policy', PAGE.replace('Content-Security-Policy', 'x')],
  ['two places to connect to', PAGE.replace('</body>', "connect-src 'none'</body>")],
  ['none', PAGE.replace("connect-src 'none'", "connect-src 'self'")],
  ['no head', PAGE.replace('<head>', '')],
  ['nothing', ''],
  ['a policy of two lines', PAGE.replace('; connect-src', ';\nconnect-src')],
  ['noise', randomBytes(1000).toString('latin1')],
])('a page with %s is not served', (_name, page) => {
  expect(livePage(page)).toBeUndefined();
});
