// The second part of the HTML report's script: what is different from the run before.

extension HTMLPage {
  static let comparisonScript: StaticString = #"""
    // How much longer or shorter, unless the difference may be chance.
    function difference(now, was) {
      const ms = now - was;
      return Math.abs(ms) < 50 || Math.abs(ms) < was / 10 || Number.isNaN(ms) ? 0 : ms;
    }

    function changeOf(now, was) {
      const ms = difference(now, was);
      if (!ms) return [];
      return [' ', add(null, 'span', { class: ms > 0 ? 'slower' : 'faster' }, (ms > 0 ? '+' : '−') + time(Math.abs(ms)))];
    }

    function namesOf(list) {
      return list.slice(0, 8).join(', ') + (list.length > 8 ? ' and ' + (list.length - 8) + ' more' : '');
    }

    function writeComparison() {
      const before = run.before;
      if (!before) return;
      add(page, 'h2', {}, 'Since the run before');
      const list = add(page, 'ul', { class: 'card since' });
      const item = (...content) => add(list, 'li', {}, ...content);
      item(time(run.wall), ...changeOf(run.wall, before.wall), ', was ' + time(before.wall) + ' in ' + before.run,
        add(null, 'span', { class: 'faint' }, ' · ' + before.time.replace('T', ' ').slice(0, 19) + ' UTC · exit ' + before.status));
      const known = run.steps.filter(step => step.was);
      const turned = known.filter(step => step.was !== step.outcome);
      for (const step of turned.slice(0, 12))
        item(add(null, 'span', { class: 'dot ' + mood(step.outcome) }), step.id + ': ' + step.outcome + ', was ' + step.was);
      if (turned.length > 12) item('and ' + (turned.length - 12) + ' more ended in another way');
      const changed = known.map(step => [step, step.was === step.outcome ? difference(step.time, step.took) : 0])
        .filter(([, ms]) => ms).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
      for (const [step] of changed.slice(0, 5))
        item(step.id + ': ' + time(step.time), ...changeOf(step.time, step.took), ', was ' + time(step.took));
      if (changed.length > 5) item('and ' + (changed.length - 5) + ' more took longer or shorter');
      const fresh = run.steps.filter(step => !step.was).map(step => step.id);
      if (fresh.length > 0) item('new: ' + namesOf(fresh));
      if (before.gone.length > 0) item('not in this run: ' + namesOf(before.gone));
      if (list.children.length === 1) item('every step ended as before and took about as long');
    }

    """#
}
