// The part of the module that a preview needs, carried inside the script.
import packed from 'okstra-preview-module';
import { createApi, loadFailure } from '../src/api.js';
import type { Preview, PreviewFacts, TaskFacts } from '../src/generated/types.js';
import { called, decoded, instantiated } from '../src/lowered.js';

/** The functions of the part. */
interface Functions {
  previewPlan(facts: PreviewFacts): Preview;
  planCandidates(task: TaskFacts): string[];
}

/** The functions, as soon as the module is compiled; the same promise every time. */
export function core(): Promise<Functions> {
  loading ??= load().catch((thrown) => {
    loading = undefined;
    throw loadFailure(thrown, HELP, 'the module');
  });
  return loading;
}

let loading: Promise<Functions> | undefined;

const HELP = "a page with a Content-Security-Policy needs script-src 'wasm-unsafe-eval'";

async function load(): Promise<Functions> {
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const headers = { 'content-type': 'application/wasm' };
  const module = await WebAssembly.compileStreaming(new Response(plain, { headers }));
  let exports = instantiated(module);
  return createApi({
    ready() {},
    call: (name, args) => called(exports, name, args, decoded),
    takePanic: () => called(exports, 'takePanic', [], decoded),
    renew() {
      exports = instantiated(module);
    },
  });
}
