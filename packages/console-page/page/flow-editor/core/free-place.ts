import type { Size } from './first-positions.ts'
import { NODE_WIDTH, type Position } from './position.ts'

export interface Box extends Position, Size {}

/** Distance kept between nodes, in pixels. */
const GAP = 24
const STEP = 28
const MOST_RINGS = 400

/** Size of a node that has not been rendered yet; most nodes with two or three ports are as high or lower. */
export const newNodeSize: Size = { width: NODE_WIDTH, height: 170 }

const directions: readonly Position[] = [
  { x: 0, y: 1 },
  { x: 1, y: 0 },
  { x: 0, y: -1 },
  { x: 1, y: 1 },
  { x: -1, y: 0 },
  { x: 1, y: -1 },
  { x: -1, y: 1 },
  { x: -1, y: -1 },
]

/** Returns the free place for a new node that is the nearest to the wanted one, in eight directions. */
export function freePlace(boxes: readonly Box[], wanted: Position, size: Size = newNodeSize): Position {
  const isFree = ({ x, y }: Position) =>
    boxes.every(
      (box) =>
        x + size.width + GAP <= box.x ||
        box.x + box.width + GAP <= x ||
        y + size.height + GAP <= box.y ||
        box.y + box.height + GAP <= y,
    )
  for (let ring = 0; ring < MOST_RINGS; ring++) {
    for (const { x, y } of directions) {
      const place = { x: wanted.x + x * ring * STEP, y: wanted.y + y * ring * STEP }
      if (isFree(place)) return place
    }
  }
  return { x: wanted.x, y: Math.max(...boxes.map(({ y, height }) => y + height)) + GAP }
}
