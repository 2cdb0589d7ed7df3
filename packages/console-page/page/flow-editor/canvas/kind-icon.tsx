import {
  Braces,
  Hash,
  Image,
  LogIn,
  LogOut,
  MessageSquareText,
  Split,
  Square,
  TextCursorInput,
  Volume2,
  type LucideIcon,
} from 'lucide-react'

const icons: Readonly<Record<string, LucideIcon>> = {
  input: LogIn,
  output: LogOut,
  template: TextCursorInput,
  expression: Braces,
  branch: Split,
  constant: Hash,
  'product.chat': MessageSquareText,
  'product.image': Image,
  'product.audio': Volume2,
}

/** Decorative: the kind is written next to it. */
export function KindIcon({ kind }: { kind: string }) {
  const Drawn = icons[kind] ?? Square
  return <Drawn className="icon" aria-hidden="true" focusable="false" />
}

/** Screen reader texts of the canvas. */
export const canvasLabels = {
  'node.a11yDescription.default':
    'Press Enter to edit the node, arrow keys to move it, Delete to remove it, Tab to reach its ports.',
  'node.a11yDescription.keyboardDisabled': 'Press Enter to edit the node.',
  'node.a11yDescription.ariaLiveMessage': ({ direction, x, y }: { direction: string; x: number; y: number }) =>
    `Moved ${direction} to ${Math.round(x)}, ${Math.round(y)}.`,
  'edge.a11yDescription.default': 'Press Enter to select the edge, Delete to remove it.',
  'controls.ariaLabel': 'Zoom',
  'controls.zoomIn.ariaLabel': 'Zoom in',
  'controls.zoomOut.ariaLabel': 'Zoom out',
  'controls.fitView.ariaLabel': 'Fit view',
  'controls.interactive.ariaLabel': 'Lock the canvas',
  'minimap.ariaLabel': 'Overview of the flow',
  'handle.ariaLabel': 'Port',
}
