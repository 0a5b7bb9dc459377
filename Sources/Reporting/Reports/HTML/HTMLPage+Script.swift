// Creates the elements of the HTML report and sets their text: no data of a run is ever parsed as
// HTML.

extension HTMLPage {
  /// The first part of the script: header, timeline, graph.
  static let drawingScript: StaticString = #"""
    'use strict';
    const run = JSON.parse(document.getElementById('run').textContent);
    const page = document.getElementById('page');
    const svgSpace = 'http://www.w3.org/2000/svg';

    function add(parent, name, attributes, ...content) {
      const element = name.startsWith('svg:')
        ? document.createElementNS(svgSpace, name.slice(4)) : document.createElement(name);
      for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
      element.append(...content);
      if (parent) parent.append(element);
      return element;
    }

    function time(ms) {
      if (ms === undefined) return '';
      if (ms < 95) return Math.round(ms) + 'ms';
      if (ms < 59950) return (ms / 1000).toFixed(1) + 's';
      const seconds = Math.round(ms / 1000), two = n => String(n).padStart(2, '0');
      return seconds < 3600 ? Math.floor(seconds / 60) + 'm' + two(seconds % 60) + 's'
        : Math.floor(seconds / 3600) + 'h' + two(Math.floor(seconds / 60) % 60) + 'm';
    }

    function size(bytes) {
      if (bytes === undefined) return '';
      return bytes < 1e6 ? Math.round(bytes / 1e3) + ' kB' : (bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0) + ' MB';
    }

    function mood(outcome) {
      if (outcome === 'succeeded' || outcome === 'cached') return 'good';
      if (outcome.endsWith('allowed')) return 'warn';
      return outcome === 'failed' || outcome === 'timed out' ? 'bad' : 'none';
    }

    // What the data does not say itself.
    const steps = new Map(run.steps.map(step => [step.id, step]));
    const groups = new Map(run.groups.map(group => [group.id, group.needs]));
    const ends = new Map();
    const latest = ids => ids.reduce((end, id) => Math.max(end, endOf(id)), 0);
    function endOf(id) {
      if (!groups.has(id)) return steps.get(id)?.end ?? 0;
      if (!ends.has(id)) ends.set(id, latest(groups.get(id)));
      return ends.get(id);
    }
    // The steps that these names stand for, each once.
    const stepsOf = (ids, seen = new Set()) => ids.flatMap(id => {
      if (seen.has(id)) return [];
      seen.add(id);
      return groups.has(id) ? stepsOf(groups.get(id), seen) : steps.get(id) ?? [];
    });
    for (const step of run.steps) {
      step.commands = [];
      step.time = step.start === undefined ? undefined : step.end - step.start;
      const ready = latest(step.needs);
      step.ready = Math.min(ready, step.start ?? ready);
      step.waited = step.start === undefined ? undefined : step.start - step.ready;
    }
    const isRunning = command => command.ok === undefined;
    for (const command of run.commands) {
      command.time ??= run.wall - command.start;
      steps.get(command.step)?.commands.push(command);
    }
    for (const step of run.steps) {
      if (step.commands.length === 0) continue;
      step.cpu = step.commands.reduce((sum, command) => sum + (command.cpu ?? 0), 0);
      step.memory = Math.max(...step.commands.map(command => command.memory ?? 0)) || undefined;
    }
    const rows = run.commands.reduce((count, command) => Math.max(count, command.row + 1), 0);
    const onPath = new Set(run.path);

    function writeHeader() {
      const isOver = run.status !== undefined || run.died;
      const kind = !isOver || run.left && !run.status ? 'none' : run.status === 0 ? 'good' : 'bad';
      const verdict = add(page, 'header', { class: 'verdict ' + kind });
      add(verdict, 'h1', {}, { none: '… ', good: '✓ ', bad: '✗ ' }[kind] + run.name);
      if (!isOver) add(verdict, 'div', {}, 'running for ' + time(run.wall) + ' when this page was written; reload it for news');
      const failure = run.steps.find(step => mood(step.outcome) === 'bad');
      if (failure) add(verdict, 'div', {}, failure.id + ': ' + (failure.reason || failure.outcome));
      for (const remark of run.remarks || []) add(verdict, 'div', {}, remark);
      add(verdict, 'div', { class: 'faint' }, [run.run, run.host, run.time?.replace('T', ' ').slice(0, 19) + ' UTC',
        run.status !== undefined && 'exit ' + (run.given ?? run.status)].filter(Boolean).join(' · '));
      const work = run.commands.reduce((sum, command) => sum + command.time, 0);
      const counts = new Map();
      for (const step of run.steps) counts.set(step.outcome, (counts.get(step.outcome) ?? 0) + 1);
      const cards = add(page, 'div', { class: 'cards' });
      const card = (value, words) => add(add(cards, 'div', { class: 'card' }, add(null, 'b', {}, value)), 'span', {}, words);
      for (const [outcome, count] of counts) card(count.toLocaleString('en'), outcome);
      const running = run.commands.filter(isRunning).length;
      if (running > 0) card(running, 'running');
      card(time(run.wall), run.died ? 'at least' : isOver ? 'wall time' : 'so far');
      if (rows > 0) {
        card(time(work), 'of work');
        card(rows, 'at most at once');
        card(Math.round(100 * work / (run.wall * rows || 1)) + '%', 'of the slots used');
      }
    }

    function writeTimeline() {
      if (run.commands.length === 0) return;
      add(page, 'h2', {}, 'Timeline');
      const width = 1120, left = 10, pitch = rows > 40 ? 8 : 20, top = 60, scale = (width - 2 * left) / (run.wall || 1);
      const x = ms => left + ms * scale;
      const svg = add(add(page, 'div', { class: 'scroll' }), 'svg:svg',
        { width, height: top + rows * pitch + 24, role: 'img', 'aria-label': 'commands over time' });
      const changes = run.commands.flatMap(c => [[c.start, 1], [c.start + c.time, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      let outline = 'M' + left + ',50', count = 0;
      for (const [ms, change] of changes) {
        const from = 50 - 40 * count / rows;
        count += change;
        outline += 'L' + x(ms).toFixed(1) + ',' + from.toFixed(1) + 'V' + (50 - 40 * count / rows).toFixed(1);
      }
      add(svg, 'svg:path', { class: 'area', d: outline + 'L' + x(run.wall) + ',50Z' });
      for (let tick = 0; tick <= 5; tick++) {
        const ms = run.wall * tick / 5;
        add(svg, 'svg:line', { class: 'axis', x1: x(ms), x2: x(ms), y1: top, y2: top + rows * pitch });
        add(svg, 'svg:text', { class: 'faint', x: x(ms), y: top + rows * pitch + 16,
          'text-anchor': tick === 0 ? 'start' : tick === 5 ? 'end' : 'middle' }, time(ms));
      }
      for (const command of run.commands) {
        const step = steps.get(command.step), y = top + command.row * pitch;
        if (step && step.waited * scale > 1 && command === step.commands[0])
          add(svg, 'svg:rect', { class: 'wait', x: x(step.ready), y: y + pitch - 4, width: step.waited * scale, height: 2 });
        const bar = add(svg, 'svg:rect', { class: 'bar ' + (isRunning(command) ? 'none' : command.ok ? 'good' : 'bad') + (onPath.has(command.step) ? ' path' : ''),
          x: x(command.start), y: y + 2, width: Math.max(1, command.time * scale), height: pitch - 7 });
        add(bar, 'svg:title', {}, command.title + '  ' + time(command.time));
        const room = command.time * scale / 6.5;
        if (pitch > 8 && room > 4)
          add(svg, 'svg:text', { x: x(command.start) + 4, y: y + 12, 'pointer-events': 'none' },
            command.title.length > room ? command.title.slice(0, room - 1) + '…' : command.title);
      }
      if (run.path.length > 1) {
        const text = run.path.length > 12 ? [...run.path.slice(0, 6), '…', ...run.path.slice(-5)] : run.path;
        add(page, 'p', {}, 'Critical path (outlined): ' + text.join(' > '));
      }
    }

    function writeGraph() {
      if (run.steps.length > 150 || !run.steps.some(step => step.needs.length > 0)) return;
      const rank = new Map();
      const rankOf = step => {
        if (!rank.has(step)) {
          rank.set(step, 0);
          rank.set(step, Math.max(-1, ...stepsOf(step.needs).map(rankOf)) + 1);
        }
        return rank.get(step);
      };
      const columns = [], place = new Map();
      for (const step of run.steps) {
        const column = columns[rankOf(step)] ??= [];
        place.set(step, { x: 10 + rankOf(step) * 190, y: 12 + column.length * 36 });
        column.push(step);
      }
      add(page, 'h2', {}, 'Dependencies');
      const svg = add(add(page, 'div', { class: 'scroll' }), 'svg:svg', { width: columns.length * 190,
        height: 20 + 36 * Math.max(...columns.map(column => column?.length ?? 0)), role: 'img', 'aria-label': 'dependencies' });
      for (const step of run.steps) for (const needed of stepsOf(step.needs)) {
        const from = place.get(needed), to = place.get(step);
        const a = from.x + 160, b = from.y + 13, c = to.x, d = to.y + 13;
        add(svg, 'svg:path', { class: 'edge', d: `M${a},${b}C${a + 20},${b} ${c - 20},${d} ${c},${d}` });
      }
      for (const [step, { x, y }] of place) {
        const node = add(svg, 'svg:g', {});
        add(node, 'svg:rect', { class: 'node ' + mood(step.outcome), x, y, width: 160, height: 26, rx: 5 });
        add(node, 'svg:text', { x: x + 8, y: y + 17 }, step.id.length > 24 ? step.id.slice(0, 23) + '…' : step.id);
        add(node, 'svg:title', {}, step.id + ': ' + step.outcome);
      }
    }

    """#
}
