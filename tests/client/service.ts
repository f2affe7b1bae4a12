/**
 * A stand-in for the service that a client speaks to. A script answers each request with what the
 * model would say; what a request brought is kept, so that tests see what reached the model.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A piece of what the model says. */
export type Said = string | { tool: string; input: object };

interface Message {
  role: string;
  content: unknown;
}

/** What a client asks. */
export interface Asked {
  model?: string;
  stream?: boolean;
  system?: unknown;
  tools?: { name: string }[];
  messages?: Message[];
}

/** What the model says to a request, by how often it has answered in this conversation. */
export type Script = (turn: number, asked: Asked) => readonly Said[];

/** All text in a value, whatever it is nested in. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('\n');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .filter(([key]) => key !== 'type')
      .map(([, inner]) => textIn(inner))
      .join('\n');
  }
  return '';
}

/** What has come to the model since it last spoke. */
export function fresh({ messages = [] }: Asked): string {
  const last = messages.map(({ role }) => role).lastIndexOf('assistant');
  return textIn(messages.slice(last + 1));
}

/** Says that the model was told something, without printing all else that a client sends. */
export function reached(text: string | undefined, what: string): void {
  if (text?.includes(what) !== true) throw new Error(`the model was never told '${what}'`);
}

export class Service {
  readonly asked: Asked[] = [];
  readonly #server: Server;

  constructor(script: Script) {
    this.#server = createServer((request, response) => {
      void this.#answer(script, request, response);
    });
  }

  /** Starts on loopback; answers the address. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(script: Script, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const json = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (path.endsWith('/count_tokens')) return json(200, { input_tokens: 1 });
    if (request.method !== 'POST' || !path.endsWith('/messages')) return json(404, {});
    const asked: Asked = JSON.parse(Buffer.concat(chunks).toString());
    // Without tools it is about titles and the like.
    const isTurn = (asked.tools?.length ?? 0) > 0;
    if (isTurn) this.asked.push(asked);
    const turn = (asked.messages ?? []).filter(({ role }) => role === 'assistant').length;
    const content = (isTurn ? script(turn, asked) : ['ok']).map((said, at) =>
      typeof said === 'string'
        ? { type: 'text', text: said }
        : { type: 'tool_use', id: `toolu_${turn}_${at}`, name: said.tool, input: said.input },
    );
    const usage = { input_tokens: 10, output_tokens: 10 };
    const message = {
      id: `msg_${this.asked.length}_${turn}`,
      type: 'message',
      role: 'assistant',
      model: asked.model ?? 'none',
      stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage,
    };
    if (asked.stream !== true) return json(200, { ...message, content });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, body: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`);
    send('message_start', { message: { ...message, content: [], stop_reason: null } });
    for (const [index, block] of content.entries()) {
      const isText = 'text' in block;
      const start = isText ? { ...block, text: '' } : { ...block, input: {} };
      send('content_block_start', { index, content_block: start });
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
      send('content_block_delta', { index, delta });
      send('content_block_stop', { index });
    }
    const { stop_reason, stop_sequence } = message;
    send('message_delta', { delta: { stop_reason, stop_sequence }, usage: { output_tokens: 10 } });
    send('message_stop', {});
    response.end();
  }
}
