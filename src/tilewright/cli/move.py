"""`tilewright move`: the value of every move on a board, and the move that an agent plays."""

import click

from tilewright.agents.defaults import agent_or_default
from tilewright.cli import output
from tilewright.cli.options import agent_option, game_option, json_option
from tilewright.games import make_game
from tilewright.rng import stream_for

__all__ = ["move"]


@click.command()
@click.argument("board")
@agent_option("The agent that chooses the move.")
@game_option
@click.option("--seed", default=0, show_default=True, help="The seed of agents that draw random numbers.")
@json_option
def move(board: str, agent: str | None, game: str, seed: int, as_json: bool) -> None:
    """Print the value of every legal move on BOARD, and the move that the agent plays.

    BOARD is its tiles row by row (0 or . for an empty cell; separated by spaces, commas or slashes), as many
    hexadecimal tile codes, or a JSON array of rows. A board of Threes may add the next tile and the bag:
    "… hint=2 bag=143".

    \b
    Examples:
      tilewright move "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
      tilewright move 1120000000000001 --json
      tilewright move --game threes "1 2 3 3 / 0 0 0 0 / 0 0 0 0 / 0 0 0 6 hint=2"
    """
    output.announce_compilation()
    played = make_game(game)
    player = agent_or_default(agent, played).player(played)
    position = played.parse_position(board)
    analysis = player.analyse(position, stream_for(seed))
    if as_json:
        facts = {"agent": player.agent.spec, "game": played.spec, "text": played.text(position), **position.to_json()}
        values = {"legal": list(analysis.values), "values": analysis.values, "move": analysis.move}
        search = {"depth": analysis.depth, "nodes": analysis.nodes, "seconds": analysis.seconds}
        output.print_json(facts | values | {"unit": analysis.unit} | search)
        return
    print(position)
    if analysis.move is None:
        print("the game is over: no move is legal")
        return
    rows = [
        (action, output.value_text(value, analysis.unit), "best" if action == analysis.move else "")
        for action, value in analysis.values.items()
    ]
    output.print_table(("move", output.value_heading(analysis.unit), ""), rows)
