// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A Chainlink-like AggregatorV3 whose answer and times anyone sets: on time, late, zero, negative or from
/// the future. As a sequencer-uptime feed the answer is 0 (up) or 1 (down) and startedAt is when it changed.
/// Only the last rounds are kept, each in the place of an older one: a world that runs for days does not grow by its feeds.
contract PriceFeed {
    uint8 public decimals;
    string public description;
    uint256 public constant version = 4;

    struct Round {
        int256 answer;
        uint256 startedAt;
        uint256 updatedAt;
    }

    uint80 private constant KEPT = 64;

    uint80 public latestRound;
    mapping(uint80 => Round) private rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    constructor(string memory description_, uint8 decimals_) {
        description = description_;
        decimals = decimals_;
    }

    function setAnswer(int256 answer, uint256 updatedAt) external {
        _set(Round(answer, updatedAt, updatedAt));
    }

    function setRound(int256 answer, uint256 startedAt, uint256 updatedAt) external {
        _set(Round(answer, startedAt, updatedAt));
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latestRound);
    }

    function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
        require(roundId != 0 && roundId <= latestRound && roundId + KEPT > latestRound, "No data present");
        Round storage round = rounds[roundId % KEPT];
        return (roundId, round.answer, round.startedAt, round.updatedAt, roundId);
    }

    function _set(Round memory round) private {
        latestRound += 1;
        rounds[latestRound % KEPT] = round;
        emit AnswerUpdated(round.answer, latestRound, round.updatedAt);
    }
}
