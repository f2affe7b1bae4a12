// The graph as a file: a copy of what is on the screen, with its looks written into it.
import { SVG } from './marks.js';

/** What a drawing looks like without the sheet of the page. */
const LOOKS = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-opacity',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'text-decoration-line',
] as const;

/** The longest side of a picture that every browser makes. */
const LONGEST = 8_192;

function copy(svg: SVGSVGElement): { node: SVGSVGElement; width: number; height: number } {
  const [, , width = 1, height = 1] = (svg.getAttribute('viewBox') ?? '').split(' ').map(Number);
  // A card is as it is when nobody points at it.
  const classes = ['looking', 'far'].filter((name) => svg.classList.contains(name));
  svg.classList.remove(...classes);
  const node = svg.cloneNode(true) as SVGSVGElement;
  const originals = svg.querySelectorAll<SVGElement>('*');
  const pressed: SVGElement[] = [];
  const copies = node.querySelectorAll<SVGElement>('*');
  for (const [at, original] of originals.entries()) {
    const made = copies[at];
    if (!made) continue;
    if (original.matches('.press')) {
      pressed.push(made);
      continue;
    }
    const style = getComputedStyle(original);
    if (style.display === 'none') made.setAttribute('display', 'none');
    if (/^(?:path|rect|text|tspan|g)$/.test(original.localName)) {
      for (const look of LOOKS) {
        const value = style.getPropertyValue(look);
        if (value && value !== 'none' && original.localName !== 'g')
          made.setAttribute(attribute(look), value);
        else if (look === 'fill' || look === 'opacity') made.setAttribute(look, value);
      }
    }
    for (const name of ['class', 'aria-hidden', 'data-key']) {
      made.removeAttribute(name);
    }
  }
  // What is there to be pressed is nothing to be seen.
  for (const made of pressed) made.remove();
  svg.classList.add(...classes);
  for (const name of ['class', 'role']) node.removeAttribute(name);
  node.setAttribute('xmlns', SVG);
  node.setAttribute('width', `${width}`);
  node.setAttribute('height', `${height}`);
  const ground = document.createElementNS(SVG, 'rect');
  ground.setAttribute('width', `${width}`);
  ground.setAttribute('height', `${height}`);
  ground.setAttribute('fill', getComputedStyle(svg).backgroundColor);
  node.prepend(ground);
  const label = node.getAttribute('aria-label');
  if (label) {
    const title = document.createElementNS(SVG, 'title');
    title.textContent = label;
    node.prepend(title);
    node.setAttribute('role', 'img');
  }
  return { node, width, height };
}

const attribute = (look: string): string =>
  look === 'text-decoration-line' ? 'text-decoration' : look;

/** The graph as SVG. */
export function saveSvg(svg: SVGSVGElement): Blob {
  const text = new XMLSerializer().serializeToString(copy(svg).node);
  return new Blob([`<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`], { type: 'image/svg+xml' });
}

/** The graph as PNG, twice as fine where that is not too large. */
export async function savePng(svg: SVGSVGElement): Promise<Blob> {
  const { node, width, height } = copy(svg);
  const scale = Math.min(2, LONGEST / Math.max(width, height));
  const text = new XMLSerializer().serializeToString(node);
  const image = new Image();
  // An address in memory of its own: a blob's would count as foreign to a page from disk.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (!blob) throw new Error('the picture is too large for this browser');
  return blob;
}
